using System.Diagnostics;
using System.Runtime.InteropServices;
using Tidepool.Labs;
using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Data.Tests.Support;

/// <summary>Publishes and runs tests/Tidepool.Published: ahead of time, or trimmed and self-contained; without event sources.</summary>
public static class PublishedProgram
{
    public const string Native = "native";
    public const string Trimmed = "trimmed";

    private const string Project = "tests/Tidepool.Published";
    private const string Artifacts = "artifacts/published";
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(12);
    private static readonly Lazy<string?> LazyMissing = new(FindMissing);

    /// <summary>What this machine lacks to publish the program, with the command that installs it; or null.</summary>
    internal static string? Missing => LazyMissing.Value;

    private static readonly Dictionary<string, Task<string>> Made = [];

    /// <summary>Publishes the program, once for all tests, and runs it.</summary>
    /// <param name="kind">One of the constants above.</param>
    /// <param name="part">What it does: the argument of the program.</param>
    /// <param name="variables">Variables of its environment.</param>
    internal static async Task<(string Output, string Errors)> RunAsync(
        string kind, string part, params (string Name, string Value)[] variables)
    {
        if (!Made.TryGetValue(kind, out Task<string>? made)) // tests here run one after the other
        {
            Made.Add(kind, made = PublishAsync(kind));
        }

        (int code, string output, string errors) = await RunAsync(Path.Combine(await made, "Tidepool.Published"), [part], variables);
        Assert.True(code == 0, $"exit code {code}\n{output}\n{errors}");
        return (output, errors);
    }

    private static async Task<string> PublishAsync(string kind)
    {
        string folder = Path.Combine(Root, Artifacts, kind);
        string[] how = kind == Native
            ? ["-p:PublishAot=true"]
            : ["--self-contained", "-p:PublishTrimmed=true", "-p:EventSourceSupport=false"];
        string[] where = ["--artifacts-path", Artifacts, "-o", folder];
        (int code, string output, string errors) = await RunAsync(
            "dotnet", ["publish", Project, "-c", "Release", "--use-current-runtime", "--nologo", .. how, .. where], []);
        Assert.True(code == 0, $"The program does not publish ({kind}).\n{output}\n{errors}");
        return folder;
    }

    private static string Root
    {
        get
        {
            string folder = AppContext.BaseDirectory;
            while (!File.Exists(Path.Combine(folder, "Tidepool.slnx")))
            {
                folder = Path.GetDirectoryName(folder)!;
            }

            return folder;
        }
    }

    private static async Task<(int Code, string Output, string Errors)> RunAsync(
        string program, string[] arguments, (string Name, string Value)[] variables)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = Root,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment["DOTNET_NOLOGO"] = "1";
        start.Environment["DOTNET_CLI_UI_LANGUAGE"] = "en";
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1"; // a node that stays would hold the pipes open
        foreach ((string name, string value) in variables)
        {
            start.Environment[name] = value;
        }

        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        using var patience = new CancellationTokenSource(Patience);
        try
        {
            await process.WaitForExitAsync(patience.Token);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            Assert.Fail($"{program} {string.Join(' ', arguments)} did not end.\n{await output}\n{await errors}");
        }

        return (process.ExitCode, await output, await errors);
    }

    /// <summary>Finds what is missing to publish; on first use restores the compiler's package into the package cache.</summary>
    private static string? FindMissing()
    {
        if (!OperatingSystem.IsLinux())
        {
            return "the program is published on Linux only";
        }

        string[] folders = (Environment.GetEnvironmentVariable("PATH") ?? string.Empty).Split(Path.PathSeparator);
        if (!folders.Any(static f => File.Exists(Path.Combine(f, "clang")) || File.Exists(Path.Combine(f, "gcc"))))
        {
            return "no linker for programs compiled ahead of time. Install it with: apt-get install gcc";
        }

        string packages = Environment.GetEnvironmentVariable("NUGET_PACKAGES")
            ?? Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget/packages");
        string[] needed = [$"runtime.{RuntimeInformation.RuntimeIdentifier}.microsoft.dotnet.ilcompiler", "microsoft.net.illink.tasks"];
        if (needed.All(package => Directory.Exists(Path.Combine(packages, package))))
        {
            return null;
        }

        string[] restore = ["restore", Project, "--use-current-runtime", "-p:PublishAot=true", "--artifacts-path", Artifacts];
        return Task.Run(() => RunAsync("dotnet", restore, [])).GetAwaiter().GetResult().Code == 0
            ? null
            : $"the feed has not all of {string.Join(" and ", needed)}. With one that has: dotnet {string.Join(' ', restore[..4])}";
    }
}

/// <summary>A test of a published program; skipped where it cannot be published, or where it needs a server and there is none.</summary>
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Data.Tests")]
internal sealed class PublishedTheoryAttribute : TheoryAttribute, ITraitAttribute
{
    private const int Patience = 15 * 60 * 1000; // the first one compiles

    public PublishedTheoryAttribute(bool needsServer) =>
        (Skip, Timeout) = (PublishedProgram.Missing ?? (needsServer ? PostgresCluster.Missing : null), Patience);
}
