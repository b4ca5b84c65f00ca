using System.Runtime.CompilerServices;

namespace Tidepool.Attacks;

/// <summary>
/// Reads a lease from a field that other threads keep replacing. Every lease in it is active, so only the read of a torn copy may fail,
/// and no read may reach beyond its own buffer.
/// </summary>
internal abstract class TornReads<T> : Attack
    where T : unmanaged
{
    /// <summary>The field that some threads replace and others read.</summary>
    protected BufferLease<T> Field;

    public override void Run(TimeSpan time, int threads, int seed)
    {
        using BufferPool<T> pool = BufferPool<T>.Create(new() { Name = Name });
        BufferLease<T>[] leases = Rent(pool, new Random(seed));
        Field = leases[0];
        var deadline = new Deadline(time);
        int writers = WritersAmong(threads);
        Together(
        [
            .. Enumerable.Repeat<Action>(() => Replace(leases, deadline), writers),
            .. Enumerable.Range(0, Math.Max(1, threads - writers)).Select<int, Action>(reader => () => Read(reader, deadline)),
        ]);
        Array.ForEach(leases, static lease => lease.Return());
        Validate(pool.Validate);
    }

    /// <summary>How many of the threads replace the field.</summary>
    protected abstract int WritersAmong(int threads);

    /// <summary>Rents the leases for the field; the first element of each tells whose buffer it is.</summary>
    protected abstract BufferLease<T>[] Rent(BufferPool<T> pool, Random random);

    /// <summary>The length that the buffer with this first element was rented for.</summary>
    protected abstract int LengthOf(T first);

    /// <summary>Replaces the field some thousand times.</summary>
    protected abstract void Replace(BufferLease<T>[] leases);

    private void Replace(BufferLease<T>[] leases, Deadline deadline)
    {
        while (!deadline.IsOver)
        {
            Replace(leases);
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
                    ReadOnlySpan<T> span = (way++ % 3) switch { 0 => Span(), 1 => Memory(), _ => Segment() };
                    if (span.Length != LengthOf(span[0]))
                    {
                        Break($"a span of {span.Length} elements over a buffer rented for {LengthOf(span[0])}");
                    }
                }
                catch (ObjectDisposedException)
                {
                    // A refused torn copy is right.
                }
            }

            Count(1000);
        }
    }

    // A method each, so that the compiler reads the field part by part, as it does in a program.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<T> Span() => Field.Span;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<T> Memory() => Field.Memory.Span;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<T> Segment() => Field.Segment;
}
