namespace Tidepool.Misuse.Support;

/// <summary>
/// The base of the misuse of objects: pools that are checked at the end of the test, and the check that no object has two renters.
/// </summary>
public abstract class ObjectMisuseTest : PoolTest
{
    private static int s_number;

    protected static string NewName(string test) => $"{test}-{Interlocked.Increment(ref s_number)}";

    /// <summary>A pool of this test alone.</summary>
    protected ObjectPool<Thing> NewObjects(PoolChecks mode, bool stacks = false, int leakSampling = 0, int budget = 4096)
    {
        ObjectPool<Thing> pool = ObjectPool<Thing>.Create(
            static () => new Thing(),
            static thing => thing.TryReset(),
            new() { Name = NewName(GetType().Name), Checks = mode, CaptureStacks = stacks, LeakSampling = leakSampling, Budget = budget });
        Watch(pool);
        return pool;
    }

    /// <summary>A pool whose budget is tight: as many objects are idle as it may keep, and no thread keeps any of its own.</summary>
    protected ObjectPool<Thing> NewTightObjects(PoolChecks mode)
    {
        const int Budget = 16;
        ObjectPool<Thing> pool = NewObjects(mode, budget: Budget);
        Thing[] things = [.. Enumerable.Range(0, Budget).Select(_ => pool.RentRaw())];
        Array.ForEach(things, pool.ReturnRaw);
        Assert.Equal((Budget, 0), (pool.GetStatistics().Idle, pool.GetStatistics().Dropped));
        return pool;
    }

    /// <summary>The exception of a misuse, checked for what every message must say.</summary>
    protected static PoolMisuseException Throws(ObjectPool<Thing> pool, MisuseKind kind, Action misuse)
    {
        PoolMisuseException thrown = Assert.Throws<PoolMisuseException>(misuse);
        Assert.Equal((kind, pool.Name), (thrown.Kind, thrown.PoolName));
        Assert.Contains($"'{pool.Name}'", thrown.Message, StringComparison.Ordinal);
        return thrown;
    }

    /// <summary>Rents more than any tier may hold, and checks that each object has one renter.</summary>
    protected static void AssertNoTwoRenters(ObjectPool<Thing> pool)
    {
        List<ObjectLease<Thing>> leases = [.. Enumerable.Range(0, 100).Select(_ => pool.Rent())];
        List<Thing> raw = [.. Enumerable.Range(0, 100).Select(_ => pool.RentRaw())];
        Assert.Equal(200, leases.Select(l => l.Value).Concat(raw).Distinct().Count());
        leases.ForEach(l => l.Return());
        raw.ForEach(pool.ReturnRaw);
        pool.Validate();
    }
}

/// <summary>An object that counts what a pool does to it.</summary>
public sealed class Thing : IDisposable
{
    private int _resets;
    private int _resetting;

    public int Resets => _resets;

    public bool WasResetTwiceAtOnce { get; private set; }

    public int Disposals { get; private set; }

    public bool Fails { get; set; }

    public bool TryReset()
    {
        WasResetTwiceAtOnce |= Interlocked.Exchange(ref _resetting, 1) != 0;
        Interlocked.Increment(ref _resets);
        Volatile.Write(ref _resetting, 0);
        return Fails ? throw new TimeoutException() : true;
    }

    public void Dispose()
    {
        Disposals++;
        if (Fails)
        {
            throw new TimeoutException();
        }
    }
}
