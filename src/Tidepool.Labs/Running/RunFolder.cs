namespace Tidepool.Labs;

/// <summary>
/// A folder for the files of one run, gone at its end. Measuring processes get its path in their environment, and leave their files
/// behind: they are killed, not asked to tidy up.
/// </summary>
internal sealed class RunFolder : IDisposable
{
    private const string Variable = "TIDEPOOL_LAB_FOLDER";

    /// <summary>Makes it.</summary>
    public RunFolder() => Path = Directory.CreateTempSubdirectory("tidepool-lab-").FullName;

    /// <summary>The path in the process that runs labs.</summary>
    public string Path { get; }

    /// <summary>The path in a measuring process; in any other process that runs a loop, the folder of temporary files.</summary>
    public static string OfThisProcess => Environment.GetEnvironmentVariable(Variable) ?? System.IO.Path.GetTempPath();

    /// <summary>Tells a process that is to be started.</summary>
    public static void Tell(IDictionary<string, string?> environment, string path) => environment[Variable] = path;

    /// <inheritdoc/>
    public void Dispose() => Directory.Delete(Path, recursive: true);
}
