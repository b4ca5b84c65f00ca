using System.Runtime.CompilerServices;

namespace Tidepool.Attacks;

/// <summary>
/// Reads a lease out of a field that other threads replace all the time. Every lease in it is active, so no read may fail for good reason
/// but that of a torn copy, and none may reach beyond its own buffer.
/// </summary>
internal sealed class TornSpan : Attack
{
    private const int Small = 16;
    private const int Large = 1 << 20;

    private BufferLease<byte> _field;

    public override string Name => "torn-span";

    public override string Promise => "A lease that is replaced while it is read never shows memory beyond its buffer.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Name = Name });
        BufferLease<byte> small = pool.Rent(Small), large = pool.Rent(Large);
        small.Span.Fill(1);
        large.Span.Fill(2);
        _field = small;
        var deadline = new Deadline(time);
        int writers = Math.Max(1, threads / 2);
        Together(
        [
            .. Enumerable.Repeat<Action>(() => Replace(small, large, deadline), writers),
            .. Enumerable.Range(0, Math.Max(1, threads - writers)).Select<int, Action>(reader => () => Read(reader, deadline)),
        ]);
        small.Return();
        large.Return();
        Validate(pool.Validate);
    }

    private void Replace(BufferLease<byte> small, BufferLease<byte> large, Deadline deadline)
    {
        while (!deadline.IsOver)
        {
            for (int i = 0; i < 1000; i++)
            {
                _field = small;
                _field = large;
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
                    ReadOnlySpan<byte> span = (way++ % 3) switch { 0 => Span(), 1 => Memory(), _ => Segment() };

                    // The first element says whose buffer it is.
                    if (span.Length != (span[0] == 1 ? Small : Large))
                    {
                        Break($"a span of {span.Length} bytes over a buffer rented for {(span[0] == 1 ? Small : Large)}");
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
    private ReadOnlySpan<byte> Span() => _field.Span;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<byte> Memory() => _field.Memory.Span;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<byte> Segment() => _field.Segment;
}
