#pragma warning disable CA1001 // Finish ends the pool.

namespace Tidepool.Attacks;

/// <summary>Rentals of memory from one pool of buffers.</summary>
internal abstract class TornMemory<TLease>(ClearMode clear) : TornRentals<TLease>
{
    private BufferPool<long>? _pool;

    protected BufferPool<long> Pool => _pool!;

    protected override void Begin(int threads) => _pool = BufferPool<long>.Create(new() { Name = Name, Clear = clear });

    protected override void Finish()
    {
        Validate(Pool.Validate);
        AllEnded(Pool.GetStatistics().Leased);
        Ends("the disposal of the pool", Pool.Dispose);
    }

    /// <summary>Notes a buffer of a clearing pool that shows an earlier renter's content.</summary>
    protected void ShowsNothing(ReadOnlySpan<long> content)
    {
        if (content.ContainsAnyExcept(0L))
        {
            Break("a pool that clears showed earlier content");
        }
    }

    /// <summary>Fills a buffer, looks at it again a little later, and returns it.</summary>
    protected void HoldAlone(BufferLease<long> lease, int me)
    {
        lease.Span.Fill(me);
        Thread.SpinWait(20);
        if (lease.Span.ContainsAnyExcept(me))
        {
            Break("one buffer had two renters");
        }

        lease.Return();
    }
}
