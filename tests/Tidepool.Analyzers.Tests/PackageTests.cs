using System.Diagnostics;
using System.IO.Compression;
using Tidepool.Analyzers.Tests.Harness;

namespace Tidepool.Analyzers.Tests;

/// <summary>A project that references the package Tidepool gets the rules and their fixes, and can switch them off.</summary>
[Trait("Category", "Environment")]
[Trait("Category", "Slow")]
public sealed class PackageTests : IDisposable
{
    private const string Version = "99.0.0-test";

    private const string Project =
        $"""
        <Project Sdk="Microsoft.NET.Sdk">
          <PropertyGroup>
            <TargetFramework>net10.0</TargetFramework>
            <ImplicitUsings>enable</ImplicitUsings>
            <Nullable>enable</Nullable>
            <RestoreSources>$(MSBuildThisFileDirectory)packages</RestoreSources>
            <RestorePackagesPath>$(MSBuildThisFileDirectory)cache</RestorePackagesPath>
          </PropertyGroup>
          <ItemGroup>
            <PackageReference Include="Tidepool" Version="{Version}" />
          </ItemGroup>
        </Project>
        """;

    private const string Code =
        """
        using System.Buffers;
        using Tidepool;

        public static class Consumer
        {
            public static int Twice(int length)
            {
                byte[] array = ArrayPool<byte>.Shared.Rent(length);
                int first = array[0];
                ArrayPool<byte>.Shared.Return(array);
                ArrayPool<byte>.Shared.Return(array);
                return first;
            }

            public static int Leaked(int length)
            {
                BufferLease<byte> lease = BufferPool<byte>.Shared.Rent(length);
                return lease.Span[0];
            }
        }
        """;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("tidepool-consumer");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void A_consumer_sees_the_rules_gets_the_fixes_and_can_switch_them_off()
    {
        string configuration = AppContext.BaseDirectory.Contains("Release", StringComparison.Ordinal) ? "Release" : "Debug";
        Run(Sources.Root, "pack", "src/Tidepool", "-c", configuration, "--no-build", $"-p:Version={Version}", "-o", At("packages"));
        using (ZipArchive package = ZipFile.OpenRead(Assert.Single(Directory.GetFiles(At("packages"), "*.nupkg"))))
        {
            Assert.Equal(
                ["analyzers/dotnet/cs/Tidepool.Analyzers.dll", "analyzers/dotnet/cs/Tidepool.CodeFixes.dll"],
                package.Entries.Select(entry => entry.FullName)
                    .Where(name => name.StartsWith("analyzers/", StringComparison.Ordinal)).Order());
        }

        File.WriteAllText(At("Consumer.csproj"), Project);
        File.WriteAllText(At("Consumer.cs"), Code);
        File.WriteAllText(At(".editorconfig"), "root = true\n");
        string built = Run(_folder.FullName, "build");
        Assert.Contains("warning POOL001", built, StringComparison.Ordinal);
        Assert.Contains("warning POOL003", built, StringComparison.Ordinal);
        Assert.DoesNotContain("AD0001", built, StringComparison.Ordinal);
        Assert.DoesNotContain("CS9057", built, StringComparison.Ordinal);

        Run(_folder.FullName, "format", "analyzers", "--no-restore", "--diagnostics", "POOL003");
        Assert.Equal(
            Code.Replace("        BufferLease<byte> lease", "        using BufferLease<byte> lease", StringComparison.Ordinal),
            File.ReadAllText(At("Consumer.cs")));
        string mended = Run(_folder.FullName, "build", "--no-restore");
        Assert.Contains("warning POOL001", mended, StringComparison.Ordinal);
        Assert.DoesNotContain("POOL003", mended, StringComparison.Ordinal);

        File.WriteAllText(At(".editorconfig"), "root = true\n[*.cs]\ndotnet_analyzer_diagnostic.category-Tidepool.Pools.severity = none\n");
        Assert.DoesNotContain("POOL", Run(_folder.FullName, "build", "--no-restore"), StringComparison.Ordinal);
    }

    private string At(string name) => Path.Combine(_folder.FullName, name);

    private static string Run(string folder, params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet", arguments)
        {
            WorkingDirectory = folder,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment["DOTNET_NOLOGO"] = "1";
        start.Environment["DOTNET_CLI_UI_LANGUAGE"] = "en";
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1"; // a node that stays would hold the pipes open
        start.Environment["UseSharedCompilation"] = "false"; // and so would a compiler
        using Process process = Process.Start(start)!;
        process.StandardInput.Close();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        if (!process.WaitForExit(Patience))
        {
            process.Kill(entireProcessTree: true);
            Assert.Fail($"dotnet {string.Join(' ', arguments)} runs for more than {Patience}.");
        }

        string printed = output.Result + errors.Result;
        Assert.True(process.ExitCode == 0, $"dotnet {string.Join(' ', arguments)} ends with {process.ExitCode}:\n{printed}");
        return printed;
    }
}
