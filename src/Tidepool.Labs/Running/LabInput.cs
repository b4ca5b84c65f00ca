namespace Tidepool.Labs;

/// <summary>The file that the user gave in place of what a lab makes. It travels to the measuring processes in their environment.</summary>
internal static class LabInput
{
    private const string Variable = "TIDEPOOL_LAB_FILE";

    /// <summary>The path, or null.</summary>
    public static string? Path => Environment.GetEnvironmentVariable(Variable);

    /// <summary>Why a file cannot be used, or null when it can.</summary>
    public static string? Refuse(string path)
    {
        try
        {
            var document = PdfDocument.Read(File.ReadAllBytes(path));
            PdfReorder.Write(document, [.. Enumerable.Range(0, document.Pages.Count)], Stream.Null);
            return null;
        }
        catch (Exception e) when (e is InvalidDataException or IOException or UnauthorizedAccessException)
        {
            return e.Message;
        }
    }

    /// <summary>Takes a file for this process and those that it starts.</summary>
    public static void Use(string path) => Environment.SetEnvironmentVariable(Variable, path);
}
