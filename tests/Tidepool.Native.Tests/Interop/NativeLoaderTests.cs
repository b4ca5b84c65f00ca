using System.Runtime.InteropServices;
using Tidepool.Native.Tests.Support;

namespace Tidepool.Native.Tests.Interop;

/// <summary>Where the library is looked for, and what is said when it is nowhere.</summary>
[Trait("Category", "Environment")]
public sealed class NativeLoaderTests : IDisposable
{
    private static readonly string PackageFolder = Path.Combine(
        "runtimes", $"linux-{RuntimeInformation.ProcessArchitecture.ToString().ToLowerInvariant()}", "native");

    // The test assembly with all it needs, but without the native library: as an application that forgot it.
    private readonly string _folder = Directory.CreateTempSubdirectory("tidepool native ").FullName;

    public NativeLoaderTests()
    {
        foreach (string file in Directory.GetFiles(AppContext.BaseDirectory).Where(f => Path.GetExtension(f) is ".dll" or ".json"))
        {
            File.Copy(file, Path.Combine(_folder, Path.GetFileName(file)));
        }
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Xunit.Fact]
    public void Without_the_library_the_error_names_every_place_and_the_command_that_builds_it()
    {
        string output = Locate(null);
        Assert.Contains("available: False", output, StringComparison.Ordinal);
        foreach (string what in (string[])["source", "pool", "version", "path"])
        {
            string line = Assert.Single(output.Split('\n'), l => l.StartsWith($"{what} missing: ", StringComparison.Ordinal));
            Assert.Contains(Path.Combine(_folder, NativeLoader.FileName), line, StringComparison.Ordinal);
            Assert.Contains(Path.Combine(_folder, "runtimes"), line, StringComparison.Ordinal);
            Assert.Contains(NativeLoader.BuildCommand, line, StringComparison.Ordinal);
            Assert.Contains(NativeLoader.Variable, line, StringComparison.Ordinal);
        }
    }

    [Xunit.Fact]
    public void The_command_that_builds_it_exists()
    {
        Assert.True(File.Exists(Path.Combine(NativeLibraryFiles.Root, NativeLoader.BuildCommand.Split(' ')[0])));
    }

    [Xunit.Fact]
    public void A_named_file_that_is_not_there_is_an_error_though_others_are()
    {
        string named = Path.Combine(_folder, "elsewhere", "mine.so");
        string output = Locate(named);
        Assert.Contains("available: False", output, StringComparison.Ordinal);
        Assert.Contains($"Looked at: {named}. ", output, StringComparison.Ordinal);
    }

    [Xunit.Fact]
    public void A_file_that_is_no_library_is_named_with_the_reason()
    {
        string text = Path.Combine(_folder, "text.so");
        File.WriteAllText(text, "no library");
        string output = Locate(text);
        Assert.Contains("available: False", output, StringComparison.Ordinal);
        Assert.Contains($"{text} is there and cannot be loaded: ", output, StringComparison.Ordinal);
    }

    [Fact]
    public void A_library_of_another_kind_is_refused_by_its_version()
    {
        string other = Directory.GetFiles(RuntimeEnvironment.GetRuntimeDirectory(), "libSystem.Native.*").Single();
        string output = Locate(other);
        Assert.Contains("it has version (none), wanted is 0.1.0", output, StringComparison.Ordinal);
    }

    [Fact]
    public void It_is_found_where_TIDEPOOL_NATIVE_says()
    {
        string named = Path.Combine(_folder, "some.file");
        File.Copy(TidepoolNative.LibraryPath, named);
        AssertFound(named, Locate(named));
    }

    [Fact]
    public void It_is_found_next_to_the_assembly()
    {
        string beside = Path.Combine(_folder, NativeLoader.FileName);
        File.Copy(TidepoolNative.LibraryPath, beside);
        AssertFound(beside, Locate(null));
    }

    [Fact]
    public void It_is_found_in_the_folder_of_the_runtime_identifier()
    {
        string package = Path.Combine(_folder, PackageFolder, NativeLoader.FileName);
        Directory.CreateDirectory(Path.GetDirectoryName(package)!);
        File.Copy(TidepoolNative.LibraryPath, package);
        AssertFound(package, Locate(null));
    }

    [Fact]
    public void Next_to_the_assembly_goes_before_the_folder_of_the_runtime_identifier()
    {
        string beside = Path.Combine(_folder, NativeLoader.FileName);
        Directory.CreateDirectory(Path.Combine(_folder, PackageFolder));
        File.Copy(TidepoolNative.LibraryPath, beside);
        File.Copy(TidepoolNative.LibraryPath, Path.Combine(_folder, PackageFolder, NativeLoader.FileName));
        AssertFound(beside, Locate(null));
    }

    private static void AssertFound(string file, string output)
    {
        Assert.Contains("available: True", output, StringComparison.Ordinal);
        Assert.Contains($"path: {file}", output, StringComparison.Ordinal);
        Assert.Contains("version: 0.1.0", output, StringComparison.Ordinal);
        Assert.DoesNotContain("missing", output, StringComparison.Ordinal);
    }

    private string Locate(string? named)
    {
        (int code, string output, string error) = Child.Run(Scenarios.Locate, _folder, (NativeLoader.Variable, named));
        Assert.True(code == 0, error);
        return output;
    }
}
