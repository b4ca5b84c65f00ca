namespace Tidepool.Models.Pools;

/// <summary>A pool and what the model knows of it.</summary>
internal sealed class Ledger<T>
{
    internal long Rented;
    internal long Returned;
    internal long Detached;
    internal long StaleDisposes;
    internal long DoubleReturns;
    internal long UsesAfterReturn;

    internal Ledger(Func<BufferSource<T>, BufferPoolOptions<T>> options)
    {
        Pool = BufferPool<T>.Create(options(Source));
        Owners = new PooledMemoryPool<T>(Pool, OwnerReuse.Guarded);
    }

    internal BufferPool<T> Pool { get; }

    internal PooledMemoryPool<T> Owners { get; }

    internal CountingSource<T> Source { get; } = new();

    /// <summary>Compares the counters of the pool with those of the model, while no thread rents or returns.</summary>
    internal void CheckCounts()
    {
        PoolStatistics statistics = Pool.GetStatistics();
        Assert.Equal(Rented, statistics.Rented);
        Assert.Equal(Returned, statistics.Returned);
        Assert.Equal(StaleDisposes, statistics.StaleDisposes);
        Assert.Equal(DoubleReturns, statistics.GetMisuse(MisuseKind.DoubleReturn));
        Assert.Equal(UsesAfterReturn, statistics.GetMisuse(MisuseKind.UseAfterReturn));
        Assert.Equal(0, Source.Strangers);
    }

    /// <summary>The end: nothing is out, so after a trim only what was taken out of the pool lives.</summary>
    internal void CheckEnd()
    {
        CheckCounts();
        Assert.Equal(Rented, Returned);
        Pool.Validate();
        Assert.Equal(0, Pool.GetStatistics().BytesLeased);
        Pool.Trim();
        Assert.Equal(0, Pool.GetStatistics().BytesIdle);
        Assert.Equal(Detached, Source.Live);
        Pool.Validate();
        Pool.Dispose();
        Assert.Equal(Detached, Source.Live);
        Assert.Equal(0, Source.Strangers);
    }
}
