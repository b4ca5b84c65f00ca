namespace Tidepool.Advice;

/// <summary>The machine code of one compiled form of a method.</summary>
internal sealed record CodeRange
{
    /// <summary>Its first address.</summary>
    public required ulong Start { get; init; }

    /// <summary>Its bytes.</summary>
    public required uint Size { get; init; }

    /// <summary>The method with its type, as its author wrote it.</summary>
    public required string Method { get; init; }

    /// <summary>The path of its assembly; empty for code that no assembly has.</summary>
    public string AssemblyPath { get; init; } = "";

    /// <summary>The method's token in the assembly.</summary>
    public int Token { get; init; }

    /// <summary>Where in the method's own code its instructions come from, by their distance from the start, ascending.</summary>
    public IReadOnlyList<(int Native, int Intermediate)> Map { get; init; } = [];

    /// <summary>The offset in the method's own code that an instruction came from; 0 where that is not known.</summary>
    /// <param name="native">The instruction's distance from the start.</param>
    public int OffsetOf(int native) => Map.LastOrDefault(pair => pair.Native <= native && pair.Intermediate >= 0).Intermediate;
}

/// <summary>Names the code of a process by its addresses.</summary>
internal sealed class SymbolTable
{
    private readonly CodeRange[] _ranges;
    private readonly ulong[] _starts;

    public SymbolTable(IEnumerable<CodeRange> ranges)
    {
        _ranges = [.. ranges.OrderBy(static range => range.Start)];
        _starts = [.. _ranges.Select(static range => range.Start)];
    }

    /// <summary>Whether it names nothing.</summary>
    public bool IsEmpty => _ranges.Length == 0;

    /// <summary>The code that an address lies in; null where none does.</summary>
    public CodeRange? Find(ulong address)
    {
        int place = Array.BinarySearch(_starts, address);
        place = place < 0 ? ~place - 1 : place;
        return place >= 0 && address - _starts[place] < _ranges[place].Size ? _ranges[place] : null;
    }
}
