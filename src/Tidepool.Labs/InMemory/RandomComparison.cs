namespace Tidepool.Labs;

/// <summary>
/// Random operations on <see cref="MemoryStream"/> and on ours, counted where they differ. The tests have the same with every member and
/// every constructor.
/// </summary>
internal static class RandomComparison
{
    /// <summary>Metric: operations whose result, exception, position, length or capacity differ.</summary>
    public const string Differences = "differences";

    private const int OperationsPerStream = 200;

    private delegate long Operation(MemoryStream stream, byte[] data, int count, long place);

    private static readonly Operation[] Operations =
    [
        (s, d, n, _) => { s.Write(d, 0, n); return n; },
        (s, d, n, _) => { s.Write(d.AsSpan(0, n)); return n; },
        (s, d, n, _) => { s.WriteByte(d[n]); return 1; },
        (s, d, n, _) => Sum(n, b => s.Read(b, 0, n)),
        (s, d, n, _) => Sum(n, b => s.Read(b.AsSpan())),
        (s, d, n, _) => s.ReadByte(),
        (s, d, n, p) => s.Position = p,
        (s, d, n, p) => s.Seek(p, SeekOrigin.Current),
        (s, d, n, p) => s.Seek(-p, SeekOrigin.End),
        (s, d, n, p) => { s.SetLength(p); return p; },
        (s, d, n, p) => s.Capacity = (int)(s.Length + (p % 100)),
        (s, d, n, _) => s.WriteAsync(d, 0, n).IsCompletedSuccessfully ? n : -1,
        (s, d, n, _) => Sum(n, b => s.ReadAsync(b, 0, n).GetAwaiter().GetResult()),
        (s, d, n, _) => Hash(s.ToArray()),
        (s, d, n, _) => s.TryGetBuffer(out ArraySegment<byte> content) ? Hash(content) : -1,
        (s, d, n, _) => Copy(s, (from, to) => from.CopyTo(to)),
        (s, d, n, _) => Copy(s, (from, to) => from.WriteTo(to)),
        (s, d, n, _) => Sum(n, b => s.ReadAtLeast(b, n, throwOnEndOfStream: n % 2 == 0)),
    ];

    /// <summary>Runs a number of operations.</summary>
    public static Dictionary<string, double> Run(int operations, int seed)
    {
        var random = new Random(seed);
        byte[] data = StreamData.OfLength(20_001);
        int differences = 0;
        for (int done = 0; done < operations; done += OperationsPerStream)
        {
            using var theirs = new MemoryStream();
            using MemoryStream ours = done % 3 == 0 ? PooledMemoryStream.Rent() : new PooledMemoryStream();
            for (int i = 0; i < OperationsPerStream; i++)
            {
                var operation = Operations[random.Next(Operations.Length)];
                int count = random.Next(random.Next(20) == 0 ? 20_000 : 300);
                long place = random.Next(-3, (int)theirs.Length + 200);
                bool same = Outcome(operation, theirs, data, count, place) == Outcome(operation, ours, data, count, place)
                    && theirs.Position == ours.Position && theirs.Length == ours.Length && theirs.Capacity == ours.Capacity;
                differences += same ? 0 : 1;
            }

            differences += theirs.ToArray().AsSpan().SequenceEqual(ours.ToArray()) ? 0 : 1;
        }

        return new() { [Differences] = differences, ["operations"] = operations };
    }

    private static string Outcome(Operation operation, MemoryStream stream, byte[] data, int count, long place)
    {
        try
        {
            return $"{operation(stream, data, count, place)}";
        }
        catch (Exception e)
        {
            return $"{e.GetType().Name} {(e as ArgumentException)?.ParamName}"; // exceptions are outcomes too
        }
    }

    private static long Sum(int count, Func<byte[], int> read)
    {
        byte[] buffer = new byte[count];
        int length = read(buffer);
        return (length * 31L) + Hash(buffer);
    }

    private static long Copy(MemoryStream stream, Action<MemoryStream, Stream> copy)
    {
        using var target = new MemoryStream();
        copy(stream, target);
        return Hash(target.ToArray());
    }

    private static long Hash(ReadOnlySpan<byte> bytes)
    {
        HashCode hash = default;
        hash.AddBytes(bytes);
        return (uint)hash.ToHashCode() + ((long)bytes.Length << 32);
    }
}
