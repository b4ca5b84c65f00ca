using System.Globalization;

namespace Tidepool.Labs;

/// <summary>One point of a lab's grid: named coordinates in a fixed order, such as <c>type=byte length=4096</c>.</summary>
internal sealed class Cell : IEquatable<Cell>
{
    private readonly (string Name, object Value)[] _coordinates;

    private Cell((string, object)[] coordinates)
    {
        _coordinates = coordinates;
        Key = string.Join(' ', _coordinates.Select(c => $"{c.Name}={Format(c.Value)}"));
    }

    /// <summary>The coordinates as text; equal cells have equal keys.</summary>
    public string Key { get; }

    /// <summary>The coordinates; a value is a <see cref="string"/> or a <see cref="long"/>.</summary>
    public IReadOnlyList<(string Name, object Value)> Coordinates => _coordinates;

    /// <summary>Makes a cell; values must be strings or integers.</summary>
    public static Cell Of(params (string Name, object Value)[] coordinates) =>
        new([.. coordinates.Select(c => (c.Name, Normalize(c.Value)))]);

    /// <summary>The value of one coordinate as text, or null when the cell has no such coordinate.</summary>
    public string? this[string name]
    {
        get
        {
            foreach (var (key, value) in _coordinates)
            {
                if (key == name)
                {
                    return Format(value);
                }
            }

            return null;
        }
    }

    /// <summary>The given coordinates as a reader says them, such as <c>inlined, depth 8, 2 threads</c>.</summary>
    public string Describe(IEnumerable<string> names) =>
        string.Join(", ", names.Select(name => Describe(name, this[name])).Where(text => text.Length > 0));

    /// <summary>All coordinates as a reader says them.</summary>
    public string Describe() => Describe(_coordinates.Select(coordinate => coordinate.Name));

    /// <inheritdoc/>
    public bool Equals(Cell? other) => other is not null && Key == other.Key;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as Cell);

    /// <inheritdoc/>
    public override int GetHashCode() => Key.GetHashCode(StringComparison.Ordinal);

    /// <inheritdoc/>
    public override string ToString() => Key;

    private static string Describe(string name, string? value) => (name, value) switch
    {
        (_, null) => "",
        ("depth" or "block", _) => $"{name} {value}",
        ("threads" or "pipes", "1") => $"1 {name[..^1]}",
        ("threads" or "pipes", _) => $"{value} {name}",
        ("clear", "yes") => "cleared",
        ("clear", _) => "not cleared",
        ("size", _) when long.TryParse(value, CultureInfo.InvariantCulture, out _) => $"{value} B",
        ("pause", _) => $"pause of {value}",
        ("held", _) => $"{value} owners",
        ("items", _) => $"{value} items",
        ("sessions", "1") => "1 session",
        ("sessions", _) => $"{value} sessions",
        ("after", _) => $"after {value}",
        _ => value,
    };

    private static object Normalize(object value) => value switch
    {
        string text => text,
        int number => (long)number,
        long number => number,
        _ => throw new ArgumentException($"A coordinate is a string or an integer, not {value.GetType().Name}."),
    };

    private static string Format(object value) => Convert.ToString(value, CultureInfo.InvariantCulture)!;
}
