using System.Security.Cryptography;

namespace Tidepool.Labs;

/// <summary>
/// Reverses the pages of a document through one kind of stream: the file is read out of one, the new document is written into another.
/// </summary>
internal static class PdfLoop<T>
    where T : struct, IStreamSubject<T>
{
    /// <summary>Reverses the pages a number of times.</summary>
    public static void Run(int operations)
    {
        for (int i = 0; i < operations; i++)
        {
            _ = Reverse(out _);
        }
    }

    /// <summary>Reverses the pages once.</summary>
    /// <param name="length">The length of the new document in bytes.</param>
    /// <returns>The digest of the new document.</returns>
    public static byte[] Reverse(out long length)
    {
        T output = Write();
        length = output.Base.Length;
        byte[] digest = SHA256.HashData(output.Base);
        output.Close();
        return digest;
    }

    /// <summary>The pages of the new document that are not where they should be.</summary>
    public static int CountMisplaced()
    {
        var before = PdfDocument.Read(PdfInput.File);
        T output = Write();
        byte[] bytes = new byte[output.Base.Length];
        output.Base.ReadExactly(bytes);
        output.Close();
        var after = PdfDocument.Read(bytes);
        var expected = before.Pages.Select(page => page.Number).Reverse().ToList();
        return Math.Abs(after.Pages.Count - expected.Count) + after.Pages.Zip(expected).Count(pair => pair.First.Number != pair.Second);
    }

    private static T Write()
    {
        byte[] file = PdfInput.File;
        T input = T.Open();
        input.Write(file, 0, file.Length);
        input.Rewind();
        byte[] read = StreamData.Target(file.Length);
        input.Base.ReadExactly(read, 0, file.Length);
        input.Close();
        var document = PdfDocument.Read(read, file.Length);
        T output = T.Open();
        PdfReorder.Write(document, [.. Enumerable.Range(0, document.Pages.Count).Reverse()], output.Base);
        output.Rewind();
        return output;
    }
}

/// <summary>The document of lab <c>pdf</c>: the user's, or the one that the lab makes.</summary>
internal static class PdfInput
{
    private static readonly Lazy<byte[]> Bytes = new(() => LabInput.Path is { } path ? System.IO.File.ReadAllBytes(path) : PdfMaker.Make());

    /// <summary>The bytes of the file.</summary>
    public static byte[] File => Bytes.Value;
}
