using Tidepool.Labs;

namespace Tidepool.Tool;

/// <summary>Writes what a verb was asked to keep.</summary>
internal static class ReportFiles
{
    /// <summary>Writes a file, or says why it cannot be written.</summary>
    /// <returns>The exit code.</returns>
    public static async Task<int> WriteAsync(FileInfo file, string text)
    {
        try
        {
            await File.WriteAllTextAsync(file.FullName, text);
            return ExitRule.Ok;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine($"tidepool: '{file}' cannot be written: {failure.Message}");
            return ExitRule.EnvironmentLacks;
        }
    }
}
