using System.IO.Compression;
using System.Net.Http;
using System.Text;
using System.Text.Json;
using DocumentFormat.OpenXml;
using DocumentFormat.OpenXml.Packaging;
using DocumentFormat.OpenXml.Wordprocessing;
using Tidepool;

namespace Samples;

/// <summary>
/// A program that used <c>new MemoryStream()</c> everywhere and says <c>new PooledMemoryStream()</c> now. Nothing else was changed.
/// </summary>
public static class ReplaceMemoryStream
{
    public static async Task RunAsync(TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        await console.WriteLineAsync($"text: {WriteText()}");
        await console.WriteLineAsync($"json: {await WriteJsonAsync()}");
        await console.WriteLineAsync($"gzip: {Compress()}");
        await console.WriteLineAsync($"http: {await SendAsync()}");
        await console.WriteLineAsync($"zip: {Archive()}");
        await console.WriteLineAsync($"document: {WriteDocument()}");
    }

    private static string WriteText()
    {
        using var stream = new PooledMemoryStream();
        using (var writer = new StreamWriter(stream, new UTF8Encoding(false), leaveOpen: true))
        {
            writer.Write("rent, use, return");
        }

        stream.Position = 0;
        using var reader = new StreamReader(stream, leaveOpen: true);
        return reader.ReadToEnd();
    }

    private static async Task<string> WriteJsonAsync()
    {
        using var stream = new PooledMemoryStream();
        await JsonSerializer.SerializeAsync(stream, new Dictionary<string, int> { ["tide"] = 3, ["pool"] = 4 });
        stream.Position = 0;
        Dictionary<string, int>? back = await JsonSerializer.DeserializeAsync<Dictionary<string, int>>(stream);
        return $"{back!["tide"] + back["pool"]} from {stream.Length} bytes";
    }

    private static string Compress()
    {
        using var compressed = new PooledMemoryStream();
        using (var gzip = new GZipStream(compressed, CompressionLevel.Fastest, leaveOpen: true))
        {
            gzip.Write(new byte[1_000_000]);
        }

        compressed.Position = 0;
        using var plain = new PooledMemoryStream();
        using (var gzip = new GZipStream(compressed, CompressionMode.Decompress))
        {
            gzip.CopyTo(plain);
        }

        return $"{plain.Length} zeros again";
    }

    private static async Task<string> SendAsync()
    {
        using var body = new PooledMemoryStream();
        body.Write("the body of a request"u8);
        body.Position = 0;
        using var content = new StreamContent(body);
        using var received = new PooledMemoryStream();
        await content.CopyToAsync(received);
        return $"{content.Headers.ContentLength} bytes announced, {received.Length} sent";
    }

    private static string Archive()
    {
        using var stream = new PooledMemoryStream();
        using (var archive = new ZipArchive(stream, ZipArchiveMode.Create, leaveOpen: true))
        {
            foreach (string name in new[] { "a.txt", "b.txt" })
            {
                using Stream entry = archive.CreateEntry(name).Open();
                entry.Write(Encoding.ASCII.GetBytes(name));
            }
        }

        using (var archive = new ZipArchive(stream, ZipArchiveMode.Update, leaveOpen: true))
        {
            archive.GetEntry("a.txt")!.Delete();
        }

        using var read = new ZipArchive(stream, ZipArchiveMode.Read);
        return string.Join(", ", read.Entries.Select(e => $"{e.Name} {e.Length}"));
    }

    private static string WriteDocument()
    {
        using var stream = new PooledMemoryStream();
        using (WordprocessingDocument document = WordprocessingDocument.Create(stream, WordprocessingDocumentType.Document))
        {
            MainDocumentPart part = document.AddMainDocumentPart();
            part.Document = new Document(new Body(new Paragraph(new Run(new Text("written into pooled memory")))));
        }

        using WordprocessingDocument again = WordprocessingDocument.Open(stream, isEditable: false);
        return again.MainDocumentPart!.Document.Body!.InnerText;
    }
}
