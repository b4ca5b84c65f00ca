namespace Tidepool;

/// <summary>
/// What the keys of one pool are called in metrics and spans: the first 100 by their text, all later ones by one word. A collector keeps
/// what it has seen for as long as the process lives, so a key that was forgotten keeps its place.
/// </summary>
/// <remarks>Thread-safe; calls no foreign code.</remarks>
internal sealed class KeyLabels
{
    /// <summary>How many keys have a series of their own.</summary>
    internal const int Most = 100;

    /// <summary>The keys that came later.</summary>
    internal const string Others = "other";

    private readonly Lock _gate = new();
    private readonly HashSet<string> _known = new(StringComparer.Ordinal);

    /// <summary>The label of a key, by its text.</summary>
    internal string Of(string text)
    {
        lock (_gate)
        {
            if (_known.TryGetValue(text, out string? label))
            {
                return label;
            }

            // Places for others are beyond the 100, so this one word is known too as soon as it is used.
            label = _known.Count < Most ? text : Others;
            _known.Add(label);
            return label;
        }
    }

    /// <summary>Every label that was ever given, each with zero: a series that ends would keep its last value.</summary>
    internal Dictionary<string, int> ToZeros()
    {
        lock (_gate)
        {
            return _known.ToDictionary(static label => label, static _ => 0, StringComparer.Ordinal);
        }
    }
}
