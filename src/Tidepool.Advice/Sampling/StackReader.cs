namespace Tidepool.Advice;

/// <summary>Turns the addresses of recorded stacks into methods and lines.</summary>
internal sealed class StackReader(SymbolTable symbols, AssemblyFiles assemblies)
{
    private static readonly StackPlace Unknown = new("", "?", "", 0);

    private readonly LineReader _lines = new(assemblies);
    private readonly StatementReader _statements = new(assemblies);
    private readonly Dictionary<ulong, StackPlace> _places = [];
    private readonly Dictionary<ulong[], IReadOnlyList<StackPlace>> _stacks = new(ReferenceEqualityComparer.Instance);

    /// <summary>The slice with the stacks of its samples.</summary>
    /// <param name="recorded">The slice as it was recorded.</param>
    /// <param name="lifetimes">What became of its samples, as far as they were followed.</param>
    public SampleSlice Read(RecordedSlice recorded, IReadOnlyDictionary<RecordedSample, Lifetime> lifetimes) => recorded.Slice with
    {
        Samples =
        [
            .. recorded.Samples.Select(sample => new AllocationSample
            {
                Type = sample.Type,
                Size = sample.Size,
                IsLarge = sample.IsLarge,
                Stack = StackOf(sample.Stack),
                Lifetime = lifetimes.TryGetValue(sample, out Lifetime lifetime) ? lifetime : null,
            }),
        ],
    };

    private IReadOnlyList<StackPlace> StackOf(ulong[] addresses)
    {
        if (!_stacks.TryGetValue(addresses, out IReadOnlyList<StackPlace>? places))
        {
            // What allocates, and what calls, goes on behind the call: one byte before that is the call.
            _stacks.Add(addresses, places = [.. addresses.Select(address => PlaceOf(address - 1))]);
        }

        return places;
    }

    private StackPlace PlaceOf(ulong address)
    {
        if (!_places.TryGetValue(address, out StackPlace? place))
        {
            _places.Add(address, place = symbols.Find(address) is { } range ? PlaceOf(range, (int)(address - range.Start)) : Unknown);
        }

        return place;
    }

    private StackPlace PlaceOf(CodeRange range, int native)
    {
        string module = Path.GetFileNameWithoutExtension(range.AssemblyPath);
        if (module.StartsWith("System.", StringComparison.Ordinal))
        {
            return new StackPlace(module, range.Method, "", 0); // its symbols are not on this machine
        }

        SourceStatement statement = _lines.Find(range.AssemblyPath, range.Token, range.OffsetOf(native));
        return new StackPlace(module, range.Method, statement.File, statement.Line)
        {
            Makes = module.StartsWith("Microsoft.", StringComparison.Ordinal)
                ? []
                : _statements.MadeBy(range.AssemblyPath, range.Token, statement.Start, statement.End),
        };
    }
}
