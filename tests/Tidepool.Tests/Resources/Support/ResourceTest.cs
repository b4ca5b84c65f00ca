using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources.Support;

/// <summary>
/// The base of the tests of resource pools. Time stands still and detached work runs on the thread that caused it, unless the test says
/// otherwise, so that a test sees each outcome at once. At the end every pool must hold its invariants, and shut down to nothing.
/// </summary>
public abstract class ResourceTest : IAsyncLifetime
{
    private readonly List<ResourcePool<FakeResource>> _pools = [];

    protected ManualTime Time { get; } = new();

    protected FakePolicy Policy { get; } = new();

    protected static TimeSpan Second { get; } = TimeSpan.FromSeconds(1);

    public Task InitializeAsync() => Task.CompletedTask;

    public virtual async Task DisposeAsync()
    {
        long detached = 0;
        foreach (ResourcePool<FakeResource> pool in _pools)
        {
            pool.Validate();
            ResourcePoolStatistics statistics = pool.GetStatistics();
            Assert.True(statistics.Leased == 0, $"Pool '{pool.Name}' has leases out at the end of the test: {statistics}");
            Task<bool> shutdown = pool.ShutdownAsync(TimeSpan.Zero);
            Time.Advance(TimeSpan.FromMinutes(1)); // whatever hangs is given up
            Assert.True(await shutdown.WaitAsync(Eventually.Limit));
            pool.Validate();
            ResourcePoolStatistics end = pool.GetStatistics();
            Assert.Equal(0, end.Total + end.Creating + end.Destroying + end.Waiting);
            detached += end.Detached;
        }

        Eventually.True(() => Policy.Alive == detached, "every resource that was not detached to be destroyed");

        Assert.Equal(0, Time.Timers);
    }

    /// <summary>Options on the manual clock, with detached work on the thread that caused it.</summary>
    protected ResourcePoolOptions Options(
        int max = 2,
        int min = 0,
        int minIdle = 0,
        int creators = 4,
        int waiters = int.MaxValue,
        double validateAfter = 1000,
        ResetMode reset = ResetMode.None,
        ReuseOrder order = ReuseOrder.LastIn,
        LeakCapture capture = LeakCapture.None,
        double leakAfter = -1,
        double keepAlive = -1,
        bool isInline = true,
        double lifetime = 1_800_000,
        double backoffMin = 50,
        double backoffMax = 10_000,
        Func<double>? draw = null,
        Action<IThreadPoolWorkItem>? executor = null) => new()
        {
            Name = GetType().Name,
            MaxSize = max,
            MinSize = min,
            MinIdle = minIdle,
            MaxCreateConcurrency = creators,
            MaxWaiters = waiters,
            ValidateAfterIdle = TimeSpan.FromMilliseconds(validateAfter),
            ResetMode = reset,
            ReuseOrder = order,
            LeakCapture = capture,
            LeakThreshold = TimeSpan.FromMilliseconds(leakAfter),
            KeepAliveInterval = TimeSpan.FromMilliseconds(keepAlive),
            RentTimeout = TimeSpan.FromSeconds(10),
            TimeProvider = Time,
            NextRandom = draw ?? (static () => 0.5),
            BackoffMin = TimeSpan.FromMilliseconds(backoffMin),
            BackoffMax = TimeSpan.FromMilliseconds(backoffMax),
            MaxLifetime = TimeSpan.FromMilliseconds(lifetime),
            Executor = executor ?? (isInline ? static item => item.Execute() : null),
        };

    protected ResourcePool<FakeResource> NewPool(ResourcePoolOptions? options = null) => Watch(new(Policy, options ?? Options()));

    protected ResourcePool<FakeResource> Watch(ResourcePool<FakeResource> pool)
    {
        _pools.Add(pool);
        return pool;
    }

    /// <summary>A rental that is there at once.</summary>
    protected static ResourceLease<FakeResource> Rent(ResourcePool<FakeResource> pool)
    {
        ArgumentNullException.ThrowIfNull(pool);
        Task<ResourceLease<FakeResource>> rental = pool.RentAsync().AsTask();
        Assert.True(rental.IsCompleted, "the rental has to wait");
        return rental.GetAwaiter().GetResult();
    }

    /// <summary>A rental that has to wait.</summary>
    protected static Task<ResourceLease<FakeResource>> Wait(
        ResourcePool<FakeResource> pool, TimeSpan? timeout = null, CancellationToken cancellation = default)
    {
        ArgumentNullException.ThrowIfNull(pool);
        ValueTask<ResourceLease<FakeResource>> rental = timeout is { } time
            ? pool.RentAsync(time, cancellation)
            : pool.RentAsync(cancellation);
        Assert.False(rental.IsCompleted, "the rental does not have to wait");
        return rental.AsTask();
    }

    protected static async Task<T> Soon<T>(Task<T> task)
    {
        ArgumentNullException.ThrowIfNull(task);
        return await task.WaitAsync(Eventually.Limit);
    }
}
