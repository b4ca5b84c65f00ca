namespace Tidepool.Advice;

/// <summary>Makes a folder of its own for temporary files, and deletes it with all that it holds.</summary>
/// <param name="prefix">How its name begins.</param>
internal sealed class TemporaryFolder(string prefix) : IDisposable
{
    /// <summary>Where it is.</summary>
    public DirectoryInfo Info { get; } = Directory.CreateTempSubdirectory(prefix);

    /// <summary>Deletes it. Where that is not possible it stays: what was found is worth more than the folder.</summary>
    public void Dispose()
    {
        try
        {
            Info.Delete(recursive: true);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            // A process that could not be stopped, or that a command left behind, may still use it or add a file meanwhile.
        }
    }
}
