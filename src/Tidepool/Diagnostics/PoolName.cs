using System.Diagnostics.CodeAnalysis;

namespace Tidepool;

/// <summary>Keeps the names of live pools apart: the second live pool of a name gets the smallest number that is free.</summary>
/// <remarks>
/// A collector of metrics takes measurements with the same tags for one series and keeps the last of them, so two pools must never have one
/// name. A name comes free when its pool ends, or when the collector finds the pool: this object is a part of the pool, and its finalizer
/// gives the name back. Thread-safe; calls no foreign code.
/// </remarks>
internal sealed class PoolName
{
    private const int LongestKey = 128;

    private static readonly Lock Gate = new();
    private static readonly Dictionary<string, Series> Taken = new(StringComparer.Ordinal);
    private static readonly Dictionary<string, Series> Stems = new(StringComparer.Ordinal);

    private readonly string _stem;
    private readonly int _number;
    private bool _isFree;

    private PoolName(string text, string stem, int number) => (Text, _stem, _number) = (text, stem, number);

    ~PoolName() => Free();

    /// <summary>The name as messages, events and metrics have it.</summary>
    internal string Text { get; }

    /// <summary>Whether the pool has ended, so that another one may have the name.</summary>
    internal bool IsFree => Volatile.Read(ref _isFree);

    /// <summary>How many reports of this pool reach listeners.</summary>
    internal ReportRate Rate { get; } = new();

    /// <summary>Takes a name that its user chose, or one of the pool's own.</summary>
    /// <param name="name">The chosen name, which gets a number (<c>name#2</c>) while other pools have it; null for none.</param>
    /// <param name="stem">What a name of the pool's own begins with: <c>stem-1</c>.</param>
    internal static PoolName Take(string? name, string stem) => name is null ? TakeNext(null, stem + "-") : TakeNext(name, name + "#");

    /// <summary>Refuses a name that shows nothing.</summary>
    /// <exception cref="ArgumentException">The name is empty or white space.</exception>
    internal static string? Check(string? name, string parameter) =>
        name is null || !string.IsNullOrWhiteSpace(name) ? name : throw new ArgumentException(
            $"Name is '{name}'; allowed is text with a character to see, or null for a name of the pool's own.", parameter);

    /// <summary>
    /// The key of a keyed pool as messages show it: at most 128 characters, whatever its <see cref="object.ToString"/> does.
    /// </summary>
    internal static string KeyText(object key)
    {
        try
        {
            string text = key.ToString() ?? string.Empty;
            return text.Length <= LongestKey ? text : string.Concat(text.AsSpan(0, LongestKey - 3), "...");
        }
        catch (Exception e)
        {
            return $"({key.GetType().Name}, whose ToString threw {e.GetType().Name})";
        }
    }

    /// <summary>Lets another pool have the name. The text stays, for what is still reported of this one.</summary>
    [SuppressMessage(
        "Usage", "CA1816:Dispose methods should call SuppressFinalize",
        Justification = "The finalizer frees the name of a pool that was dropped; there is nothing else to dispose.")]
    internal void Free()
    {
        lock (Gate)
        {
            if (_isFree)
            {
                return;
            }

            Volatile.Write(ref _isFree, true);
            Taken.Remove(Text);
            Series series = Stems[_stem];
            series.Free.Enqueue(_number, _number);
            if (--series.Live == 0)
            {
                Stems.Remove(_stem);
            }
        }

        GC.SuppressFinalize(this);
    }

    private static PoolName TakeNext(string? first, string stem)
    {
        lock (Gate)
        {
            if (!Stems.TryGetValue(stem, out Series? series))
            {
                Stems.Add(stem, series = new Series());
            }

            List<int> passed = [];
            int number;
            string text;
            do
            {
                number = series.Free.TryDequeue(out int free, out _) ? free : ++series.Last;
                text = number == 1 && first is not null ? first : $"{stem}{number}";
                passed.Add(number);
            }
            while (!Taken.TryAdd(text, series));

            // Numbers that another pool has as a name of its own choice stay free for later.
            passed[..^1].ForEach(n => series.Free.Enqueue(n, n));
            series.Live++;
            return new PoolName(text, stem, number);
        }
    }

    /// <summary>The numbers of one stem.</summary>
    private sealed class Series
    {
        internal PriorityQueue<int, int> Free { get; } = new();

        internal int Last { get; set; }

        internal int Live { get; set; }
    }
}
