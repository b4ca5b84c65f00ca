using System.Runtime.CompilerServices;

namespace Tidepool.Attacks;

/// <summary>
/// Reads a field that goes through so many leases that the slots behind them do not stay in the processor's cache: the read waits for the
/// slot in the midst of looking at the field, long enough for the field to change.
/// </summary>
internal sealed class TornMany : Attack
{
    private const int Leases = 1 << 14;
    private const int Small = 16;
    private const int Large = 200;

    private readonly BufferLease<long>[] _leases = new BufferLease<long>[Leases];
    private BufferLease<long> _field;

    public override string Name => "torn-many";

    public override string Promise => "A lease that is replaced while it is read never shows memory beyond its buffer, however long the read takes.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        using BufferPool<long> pool = BufferPool<long>.Create(new() { Name = Name });
        for (int i = 0; i < Leases; i++)
        {
            _leases[i] = pool.Rent(LengthOf(i));
            _leases[i].Span.Fill(i);
        }

        new Random(seed).Shuffle(_leases);
        _field = _leases[0];
        var deadline = new Deadline(time);
        int writers = Math.Max(1, threads / 8); // a field that many write to changes more slowly
        Together(
        [
            .. Enumerable.Repeat<Action>(() => Replace(deadline), writers),
            .. Enumerable.Range(0, Math.Max(1, threads - writers)).Select<int, Action>(reader => () => Read(reader, deadline)),
        ]);
        Array.ForEach(_leases, static lease => lease.Return());
        Validate(pool.Validate);
    }

    private static int LengthOf(long index) => index % 2 == 0 ? Small : Large;

    private void Replace(Deadline deadline)
    {
        while (!deadline.IsOver)
        {
            foreach (ref readonly BufferLease<long> lease in _leases.AsSpan())
            {
                _field = lease;
            }
        }
    }

    private void Read(int way, Deadline deadline)
    {
        while (!deadline.IsOver)
        {
            for (int i = 0; i < 1000; i++)
            {
                try
                {
                    ReadOnlySpan<long> span = (way++ % 3) switch { 0 => Span(), 1 => Memory(), _ => Segment() };

                    // The first element says whose buffer it is.
                    if (span.Length != LengthOf(span[0]))
                    {
                        Break($"a span of {span.Length} elements over a buffer rented for {LengthOf(span[0])}");
                    }
                }
                catch (ObjectDisposedException)
                {
                    // A torn copy was refused, which is right.
                }
            }

            Count(1000);
        }
    }

    // Each on its own, so that the compiler reads the field as it does in a program, part by part.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<long> Span() => _field.Span;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<long> Memory() => _field.Memory.Span;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<long> Segment() => _field.Segment;
}
