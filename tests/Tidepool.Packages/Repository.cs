namespace Tidepool.Packages;

/// <summary>The clone that the tests run in.</summary>
internal static class Repository
{
    /// <summary>The folder that holds Tidepool.slnx.</summary>
    public static string Root { get; } = FindRoot();

    /// <summary>The full path of a file or folder of the clone.</summary>
    public static string At(string path) => Path.Combine(Root, path);

    private static string FindRoot()
    {
        for (DirectoryInfo? folder = new(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Tidepool.slnx")))
            {
                return folder.FullName;
            }
        }

        throw new InvalidOperationException("Tidepool.slnx is in no folder above the tests.");
    }
}
