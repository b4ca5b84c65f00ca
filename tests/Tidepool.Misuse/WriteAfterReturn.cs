using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

/// <summary>A buffer is written to after its return, unnoticed: what full checks are for.</summary>
public abstract class WriteAfterReturn(PoolChecks mode) : MisuseTest(mode)
{
    /// <summary>The next renter sees what was written.</summary>
    protected void WriteThroughASpanUnnoticed()
    {
        BufferLease<int> lease = Pool.Rent(100);
        int[] array = lease.Segment.Array!;
        Span<int> span = lease.Span;
        lease.Return();
        span.Fill(42);
        using BufferLease<int> next = Pool.Rent(100);
        Assert.Same(array, next.Segment.Array);
        Assert.Equal(42, next.Span[0]);
        Assert.Equal(0, Pool.GetStatistics().Misuses);
    }

    /// <summary>The array is rented again.</summary>
    protected void WriteToAnArrayUnnoticed()
    {
        int[] array = Pool.AsArrayPool().Rent(128);
        Pool.AsArrayPool().Return(array);
        array.AsSpan().Fill(42);
        Assert.Same(array, Pool.AsArrayPool().Rent(128));
        Pool.AsArrayPool().Return(array);
        Assert.Equal(0, Pool.GetStatistics().Misuses);
    }
}
