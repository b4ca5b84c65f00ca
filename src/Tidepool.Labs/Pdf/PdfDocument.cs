using System.IO.Compression;
using System.Text;

namespace Tidepool.Labs;

/// <summary>
/// The objects of a PDF as ranges of its bytes, and its pages in order. Reads classic and stream cross-references and object streams.
/// </summary>
internal sealed class PdfDocument
{
    private readonly byte[] _data;
    private readonly int _length;
    private readonly Dictionary<int, Entry> _entries = [];
    private readonly Dictionary<int, (byte[] Data, Dictionary<int, Range> Objects)> _objectStreams = [];
    private readonly HashSet<long> _read = [];

    private PdfDocument(byte[] data, int length)
    {
        _data = data;
        _length = length;
    }

    /// <summary>The version in the header, such as 1.7.</summary>
    public string Version { get; private set; } = "1.4";

    /// <summary>The numbers of the objects that are in use.</summary>
    public IEnumerable<int> Numbers => _entries.Keys.Order();

    /// <summary>The entries of the trailer that a new document needs, as text.</summary>
    public Dictionary<string, string> Trailer { get; } = [];

    /// <summary>The pages, in order: object number and what they inherit from the nodes above them, as text.</summary>
    public List<(int Number, Dictionary<string, string> Inherited)> Pages { get; } = [];

    /// <summary>The nodes of the page tree; the first is its root.</summary>
    public List<int> PageNodes { get; } = [];

    private ReadOnlySpan<byte> Data => _data.AsSpan(0, _length);

    /// <summary>Reads a document.</summary>
    /// <exception cref="InvalidDataException">It is no PDF, encrypted or damaged; the message says which.</exception>
    public static PdfDocument Read(byte[] data) => Read(data, data.Length);

    /// <summary>Reads a document from the first bytes of an array.</summary>
    /// <exception cref="InvalidDataException">It is no PDF, encrypted or damaged; the message says which.</exception>
    public static PdfDocument Read(byte[] data, int length)
    {
        var document = new PdfDocument(data, length);
        try
        {
            document.Open();
        }
        catch (Exception e) when (IsOutside(e))
        {
            throw Outside(e);
        }

        return document;
    }

    /// <summary>The bytes of an object between <c>obj</c> and <c>endobj</c>, its generation, and its dictionary if it is one.</summary>
    /// <returns>False for objects that only hold others or the cross-reference.</returns>
    /// <exception cref="InvalidDataException">The object is damaged.</exception>
    public bool TryGetObject(int number, out ReadOnlySpan<byte> bytes, out int generation, out Dictionary<string, Range>? dictionary)
    {
        if (!_entries.TryGetValue(number, out Entry entry))
        {
            throw new InvalidDataException($"The PDF is damaged: the object {number} is missing.");
        }

        generation = entry.IsCompressed ? 0 : (int)entry.Second;
        try
        {
            bytes = Body(number, out dictionary);
        }
        catch (Exception e) when (IsOutside(e))
        {
            throw Outside(e);
        }

        string? type = dictionary is not null && dictionary.TryGetValue("Type", out Range value)
            ? Encoding.Latin1.GetString(bytes[value])
            : null;
        return type is not ("/XRef" or "/ObjStm");
    }

    private static bool IsOutside(Exception e) =>
        e is ArgumentException or IndexOutOfRangeException or OverflowException or KeyNotFoundException;

    private static InvalidDataException Outside(Exception e) => new("The PDF is damaged: a number in it points outside of the file.", e);

    private void Open()
    {
        int header = Data[..Math.Min(1024, _length)].IndexOf("%PDF-"u8);
        if (header < 0)
        {
            throw new InvalidDataException("This is no PDF: it does not begin with %PDF-.");
        }

        Version = Encoding.Latin1.GetString(Data.Slice(header + 5, Math.Min(3, _length - header - 5)));
        int start = Data.LastIndexOf("startxref"u8);
        if (start < 0)
        {
            throw PdfLexer.Damaged(_length, "'startxref' is missing; the file breaks off");
        }

        int at = start + "startxref".Length;
        ReadSection(PdfLexer.ReadNumber(Data, ref at));
        if (Trailer.ContainsKey("Encrypt"))
        {
            throw new InvalidDataException("The PDF is encrypted; remove its protection first, for instance with: qpdf --decrypt IN OUT");
        }

        ReadOnlySpan<byte> root = Body(Reference(Trailer, "Root"), out Dictionary<string, Range>? catalog);
        if (catalog is null || !catalog.TryGetValue("Pages", out Range pages))
        {
            throw new InvalidDataException("The PDF is damaged: its catalog names no pages.");
        }

        AddPages((int)PdfLexer.ReadNumbers(root, pages)[0], [], []);
        if (Pages.Count == 0 || PageNodes.Count == 0)
        {
            throw new InvalidDataException("The PDF is damaged: it has no pages.");
        }
    }

    private static int Reference(Dictionary<string, string> dictionary, string name) => dictionary.TryGetValue(name, out string? text)
        ? (int)PdfLexer.ReadNumbers(Encoding.Latin1.GetBytes(text), ..)[0]
        : throw new InvalidDataException($"The PDF is damaged: its trailer has no /{name}.");

    private void ReadSection(long offset)
    {
        if (offset < 0 || offset >= _length || !_read.Add(offset))
        {
            throw PdfLexer.Damaged(offset, "a cross-reference should be here and is not");
        }

        int at = PdfLexer.SkipSpace(Data, (int)offset);
        Dictionary<string, Range> trailer = Data[at..].StartsWith("xref"u8) ? ReadTable(at + 4) : ReadStreamSection(at);
        foreach (string name in new[] { "Root", "Info", "ID", "Encrypt" })
        {
            if (trailer.TryGetValue(name, out Range value))
            {
                Trailer.TryAdd(name, Encoding.Latin1.GetString(Data[value]));
            }
        }

        foreach (string name in new[] { "XRefStm", "Prev" })
        {
            if (trailer.TryGetValue(name, out Range value))
            {
                int place = value.Start.Value;
                ReadSection(PdfLexer.ReadNumber(Data, ref place));
            }
        }
    }

    private Dictionary<string, Range> ReadTable(int at)
    {
        at = PdfLexer.SkipSpace(Data, at);
        while (!Data[at..].StartsWith("trailer"u8))
        {
            long first = PdfLexer.ReadNumber(Data, ref at);
            long count = PdfLexer.ReadNumber(Data, ref at);
            for (long i = 0; i < count; i++)
            {
                long offset = PdfLexer.ReadNumber(Data, ref at);
                long generation = PdfLexer.ReadNumber(Data, ref at);
                at = PdfLexer.SkipSpace(Data, at);
                AddEntry(first + i, Data[at++] == 'n', new Entry(IsCompressed: false, offset, generation));
            }

            at = PdfLexer.SkipSpace(Data, at);
        }

        return PdfLexer.ReadDictionary(Data, PdfLexer.SkipSpace(Data, at + "trailer".Length), out _);
    }

    private Dictionary<string, Range> ReadStreamSection(int at)
    {
        PdfLexer.ReadNumber(Data, ref at);
        PdfLexer.ReadNumber(Data, ref at);
        at = PdfLexer.SkipSpace(Data, PdfLexer.Expect(Data, at, "obj"u8));
        Dictionary<string, Range> dictionary = PdfLexer.ReadDictionary(Data, at, out int end);
        byte[] content = Decode(Data, dictionary, StreamRange(Data, dictionary, end));
        List<long> widths = PdfLexer.ReadNumbers(Data, dictionary["W"]);
        int size = (int)PdfLexer.ReadNumbers(Data, dictionary["Size"])[0];
        List<long> index = dictionary.TryGetValue("Index", out Range given) ? PdfLexer.ReadNumbers(Data, given) : [0, size];
        int place = 0;
        for (int section = 0; section + 1 < index.Count; section += 2)
        {
            for (long i = 0; i < index[section + 1]; i++)
            {
                long kind = widths[0] == 0 ? 1 : Field(content, ref place, widths[0]);
                long second = Field(content, ref place, widths[1]);
                long third = Field(content, ref place, widths[2]);
                AddEntry(index[section] + i, kind is 1 or 2, new Entry(kind == 2, second, third));
            }
        }

        return dictionary;
    }

    private static long Field(byte[] content, ref int place, long width)
    {
        long value = 0;
        for (; width > 0; width--)
        {
            value = (value << 8) | content[place++];
        }

        return value;
    }

    private void AddEntry(long number, bool used, Entry entry)
    {
        // The newest section comes first, and what it says of an object holds; a free one is remembered so that an older one does not
        // revive it.
        if (number > 0 && _read.Add(~number) && used)
        {
            _entries.Add(checked((int)number), entry);
        }
    }

    private ReadOnlySpan<byte> Body(int number, out Dictionary<string, Range>? dictionary)
    {
        dictionary = null;
        if (!_entries.TryGetValue(number, out Entry entry))
        {
            return "null"u8;
        }

        if (entry.IsCompressed)
        {
            (byte[] content, Dictionary<int, Range> objects) = ObjectStream((int)entry.First);
            ReadOnlySpan<byte> inner = content.AsSpan()[objects[number]];
            dictionary = inner.StartsWith("<<"u8) ? PdfLexer.ReadDictionary(inner, 0, out _) : null;
            return inner;
        }

        int at = checked((int)entry.First);
        if (PdfLexer.ReadNumber(Data, ref at) != number)
        {
            throw PdfLexer.Damaged(entry.First, $"object {number} should be here");
        }

        PdfLexer.ReadNumber(Data, ref at);
        int start = PdfLexer.SkipSpace(Data, PdfLexer.Expect(Data, at, "obj"u8));
        if (!Data[start..].StartsWith("<<"u8))
        {
            return Data[start..PdfLexer.SkipValue(Data, start)];
        }

        dictionary = PdfLexer.ReadDictionary(Data, start, out int end);
        int next = PdfLexer.SkipSpace(Data, end);
        if (Data[next..].StartsWith("stream"u8))
        {
            Range content = StreamRange(Data, dictionary, end);
            end = PdfLexer.Expect(Data, content.End.Value, "endstream"u8);
        }

        dictionary = dictionary.ToDictionary(pair => pair.Key, pair => (pair.Value.Start.Value - start)..(pair.Value.End.Value - start));
        return Data[start..end];
    }

    private (byte[] Data, Dictionary<int, Range> Objects) ObjectStream(int number)
    {
        if (_objectStreams.TryGetValue(number, out var known))
        {
            return known;
        }

        Entry entry = _entries[number];
        if (entry.IsCompressed)
        {
            throw new InvalidDataException($"The PDF is damaged: the object stream {number} lies in another one.");
        }

        int at = checked((int)entry.First);
        PdfLexer.ReadNumber(Data, ref at);
        PdfLexer.ReadNumber(Data, ref at);
        at = PdfLexer.SkipSpace(Data, PdfLexer.Expect(Data, at, "obj"u8));
        Dictionary<string, Range> dictionary = PdfLexer.ReadDictionary(Data, at, out int end);
        byte[] content = Decode(Data, dictionary, StreamRange(Data, dictionary, end));
        int first = (int)PdfLexer.ReadNumbers(Data, dictionary["First"])[0];
        long count = PdfLexer.ReadNumbers(Data, dictionary["N"])[0];
        var objects = new Dictionary<int, Range>();
        int place = 0;
        for (long i = 0; i < count; i++)
        {
            int inner = (int)PdfLexer.ReadNumber(content, ref place);
            int start = PdfLexer.SkipSpace(content, first + (int)PdfLexer.ReadNumber(content, ref place));
            objects[inner] = start..PdfLexer.SkipValue(content, start);
        }

        known = (content, objects);
        _objectStreams.Add(number, known);
        return known;
    }

    private Range StreamRange(ReadOnlySpan<byte> data, Dictionary<string, Range> dictionary, int end)
    {
        int start = PdfLexer.Expect(data, end, "stream"u8);
        start += data[start] == '\r' && data[start + 1] == '\n' ? 2 : 1;
        if (!dictionary.TryGetValue("Length", out Range given))
        {
            throw PdfLexer.Damaged(start, "a stream has no length");
        }

        List<long> numbers = PdfLexer.ReadNumbers(data, given);
        long length = numbers[0];
        if (numbers.Count == 2)
        {
            ReadOnlySpan<byte> indirect = Body((int)length, out _);
            length = PdfLexer.ReadNumbers(indirect, ..)[0];
        }

        return length < 0 || length > data.Length - start
            ? throw PdfLexer.Damaged(start, "a stream is longer than the file")
            : start..(start + (int)length);
    }

    private static byte[] Decode(ReadOnlySpan<byte> data, Dictionary<string, Range> dictionary, Range content)
    {
        if (!dictionary.TryGetValue("Filter", out Range filter))
        {
            return data[content].ToArray();
        }

        string name = Encoding.Latin1.GetString(data[filter]).Trim('[', ']', ' ');
        if (name != "/FlateDecode")
        {
            throw new InvalidDataException($"The PDF stores its structure with the filter {name}, which this lab does not read.");
        }

        using var plain = new MemoryStream();
        using (var inflate = new ZLibStream(new MemoryStream(data[content].ToArray()), CompressionMode.Decompress))
        {
            inflate.CopyTo(plain);
        }

        byte[] bytes = plain.ToArray();
        if (!dictionary.TryGetValue("DecodeParms", out Range given))
        {
            return bytes;
        }

        int at = data[given].IndexOf("<<"u8);
        Dictionary<string, Range> parameters = PdfLexer.ReadDictionary(data, given.Start.Value + at, out _);
        long Number(ReadOnlySpan<byte> from, string key, long otherwise) => parameters.TryGetValue(key, out Range value)
            ? PdfLexer.ReadNumbers(from, value)[0]
            : otherwise;
        return Number(data, "Predictor", 1) >= 10 ? Unpredict(bytes, (int)Number(data, "Columns", 1)) : bytes;
    }

    /// <summary>Undoes the row filters of PNG, for rows of single bytes.</summary>
    private static byte[] Unpredict(byte[] rows, int columns)
    {
        int count = rows.Length / (columns + 1);
        byte[] plain = new byte[count * columns];
        for (int row = 0; row < count; row++)
        {
            byte filter = rows[row * (columns + 1)];
            for (int i = 0; i < columns; i++)
            {
                int value = rows[(row * (columns + 1)) + 1 + i];
                int left = i == 0 ? 0 : plain[(row * columns) + i - 1];
                int above = row == 0 ? 0 : plain[((row - 1) * columns) + i];
                int corner = row == 0 || i == 0 ? 0 : plain[((row - 1) * columns) + i - 1];
                plain[(row * columns) + i] = (byte)(value + filter switch
                {
                    0 => 0,
                    1 => left,
                    2 => above,
                    3 => (left + above) / 2,
                    4 => Paeth(left, above, corner),
                    _ => throw new InvalidDataException($"The PDF is damaged: a row has the unknown filter {filter}."),
                });
            }
        }

        return plain;
    }

    private static int Paeth(int left, int above, int corner)
    {
        int guess = left + above - corner;
        (int toLeft, int toAbove, int toCorner) = (Math.Abs(guess - left), Math.Abs(guess - above), Math.Abs(guess - corner));
        return toLeft <= toAbove && toLeft <= toCorner ? left : toAbove <= toCorner ? above : corner;
    }

    private void AddPages(int number, Dictionary<string, string> inherited, HashSet<int> seen)
    {
        ReadOnlySpan<byte> node = Body(number, out Dictionary<string, Range>? dictionary);
        if (dictionary is null || !seen.Add(number) || seen.Count - Pages.Count > 10_000)
        {
            throw new InvalidDataException($"The PDF is damaged: object {number} is no dictionary, or is twice in the page tree.");
        }

        if (!dictionary.TryGetValue("Kids", out Range kids))
        {
            Pages.Add((number, inherited));
            return;
        }

        PageNodes.Add(number);
        var mine = new Dictionary<string, string>(inherited);
        foreach (string name in new[] { "Resources", "MediaBox", "CropBox", "Rotate" })
        {
            if (dictionary.TryGetValue(name, out Range value))
            {
                mine[name] = Encoding.Latin1.GetString(node[value]);
            }
        }

        List<long> numbers = Encoding.Latin1.GetString(node[kids]).Contains('R', StringComparison.Ordinal)
            ? PdfLexer.ReadNumbers(node, kids)
            : [];
        for (int i = 0; i + 1 < numbers.Count; i += 2)
        {
            AddPages((int)numbers[i], mine, seen);
        }
    }

    private readonly record struct Entry(bool IsCompressed, long First, long Second);
}
