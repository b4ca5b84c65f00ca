using System.Globalization;
using System.Text;

namespace Tidepool.Labs;

/// <summary>
/// Writes a document again with its pages in another order. All objects but the pages and their tree are copied as they are.
/// </summary>
internal static class PdfReorder
{
    /// <summary>Writes the document; the target needs to be able to write only.</summary>
    /// <param name="document">The document.</param>
    /// <param name="order">For each new page the index of the old one.</param>
    /// <param name="target">Where it is written to.</param>
    public static void Write(PdfDocument document, IReadOnlyList<int> order, Stream target)
    {
        var output = new Output(target);
        output.Text($"%PDF-{document.Version}\n");
        output.Bytes([(byte)'%', 0xE2, 0xE3, 0xCF, 0xD3, (byte)'\n']);
        int root = document.PageNodes[0];
        var pages = document.Pages.ToDictionary(page => page.Number, page => page.Inherited);
        var offsets = new SortedDictionary<int, (long Offset, int Generation)>();
        foreach (int number in document.Numbers)
        {
            if (document.PageNodes.Contains(number) && number != root)
            {
                continue;
            }

            if (!document.TryGetObject(number, out ReadOnlySpan<byte> bytes, out int generation, out Dictionary<string, Range>? dictionary))
            {
                continue;
            }

            offsets.Add(number, (output.Position, generation));
            output.Text($"{number} {generation} obj\n");
            if (number == root)
            {
                WriteRoot(output, document, order);
            }
            else if (pages.TryGetValue(number, out var inherited))
            {
                WritePage(
                    output,
                    bytes,
                    dictionary ?? throw new InvalidDataException($"The PDF is damaged: page {number} is no dictionary."),
                    inherited,
                    root);
            }
            else
            {
                output.Bytes(bytes);
            }

            output.Text("\nendobj\n");
        }

        WriteEnd(output, document, offsets);
    }

    private static void WriteRoot(Output output, PdfDocument document, IReadOnlyList<int> order)
    {
        output.Text($"<< /Type /Pages /Count {order.Count} /Kids [");
        foreach (int index in order)
        {
            int number = document.Pages[index].Number;
            document.TryGetObject(number, out _, out int generation, out _);
            output.Text($" {number} {generation} R");
        }

        output.Text(" ] >>");
    }

    private static void WritePage(
        Output output, ReadOnlySpan<byte> bytes, Dictionary<string, Range> dictionary, Dictionary<string, string> inherited, int root)
    {
        output.Text($"<< /Parent {root} 0 R");
        foreach (var (name, value) in dictionary.Where(pair => pair.Key != "Parent"))
        {
            output.Text($" /{name} ");
            output.Bytes(bytes[value]);
        }

        foreach (var (name, value) in inherited.Where(pair => !dictionary.ContainsKey(pair.Key)))
        {
            output.Text($" /{name} {value}");
        }

        output.Text(" >>");
    }

    private static void WriteEnd(Output output, PdfDocument document, SortedDictionary<int, (long Offset, int Generation)> offsets)
    {
        long start = output.Position;
        int size = offsets.Keys.Max() + 1;
        output.Text("xref\n0 1\n0000000000 65535 f \n");
        foreach (var (number, (offset, generation)) in offsets)
        {
            output.Text(string.Create(CultureInfo.InvariantCulture, $"{number} 1\n{offset:D10} {generation:D5} n \n"));
        }

        output.Text($"trailer\n<< /Size {size}");
        foreach (var (name, value) in document.Trailer)
        {
            output.Text($" /{name} {value}");
        }

        output.Text($" >>\nstartxref\n{start}\n%%EOF\n");
    }

    private sealed class Output(Stream target)
    {
        public long Position { get; private set; }

        public void Text(string text) => Bytes(Encoding.Latin1.GetBytes(text));

        public void Bytes(ReadOnlySpan<byte> bytes)
        {
            target.Write(bytes);
            Position += bytes.Length;
        }
    }
}
