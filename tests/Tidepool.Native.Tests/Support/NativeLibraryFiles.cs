namespace Tidepool.Native.Tests.Support;

/// <summary>Where the built libraries are, and what to say when they are not.</summary>
internal static class NativeLibraryFiles
{
    /// <summary>The folder that holds Tidepool.slnx.</summary>
    public static string Root { get; } = FindRoot();

    /// <summary>Why tests of the library cannot run, or null.</summary>
    public static string? WhyNot { get; } =
        NativeLoader.TryLoad(out _, out string? problem)
            ? null
            : $"The native library is missing. Build it with: {NativeLoader.BuildCommand} ({problem})";

    /// <summary>The checked library.</summary>
    public static string Checked { get; } = Path.Combine(Root, "artifacts", "native", "release", "libtidepool-checked.so");

    /// <summary>Why tests of the checked library cannot run, or null.</summary>
    public static string? WhyNotChecked { get; } =
        File.Exists(Checked) ? null : "The checked native library is missing. Build it with: eng/build-native release tidepool_checked";

    private static string FindRoot()
    {
        DirectoryInfo? folder = new(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "Tidepool.slnx")))
        {
            folder = folder.Parent;
        }

        return folder?.FullName ?? throw new InvalidOperationException("Tidepool.slnx is in no folder above the tests.");
    }
}
