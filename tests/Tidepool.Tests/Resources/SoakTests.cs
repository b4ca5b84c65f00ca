using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Resources;

/// <summary>
/// Everything at once on real threads, with a factory that fails, hangs and kills; the end is an integrity check. No time is asserted.
/// </summary>
public sealed class SoakTests(ITestOutputHelper output) : ResourceTest
{
    [Fact]
    public Task Renters_returns_faults_and_changes_at_once_leave_a_pool_that_adds_up() => Soak(TimeSpan.FromSeconds(2));

    [Fact]
    [Trait("Category", "Slow")]
    public Task Renters_returns_faults_and_changes_for_long_leave_a_pool_that_adds_up() => Soak(TimeSpan.FromSeconds(30));

    private async Task Soak(TimeSpan duration)
    {
        int seed = Seeds.New(output).Next();
        Policy.Broken = r => r.IsDead;
        Policy.OnReset = (r, _) => Chance(seed + r.Number + r.Resets, 50) ? Later() : new(!Chance(r.Resets, 97));
        Policy.OnValidate = async (r, token) =>
        {
            await Task.Yield();
            return Chance(r.Validations, 31) ? throw new IOException("as asked") : !r.IsDead;
        };
        Policy.OnDestroy = static r => r.Number % 11 == 0 ? throw new IOException("as asked") : default;
        var pool = new ResourcePool<FakeResource>(Policy, new ResourcePoolOptions
        {
            Name = "soak",
            MaxSize = 8,
            MinSize = 1,
            ResetMode = ResetMode.Background,
            RentTimeout = TimeSpan.FromMilliseconds(200),
            CreateTimeout = TimeSpan.FromMilliseconds(100),
            PolicyTimeout = TimeSpan.FromMilliseconds(100),
            ValidateAfterIdle = TimeSpan.FromMilliseconds(1),
            IdleTimeout = TimeSpan.FromMilliseconds(30),
            KeepAliveInterval = TimeSpan.FromMilliseconds(20),
            MaxLifetime = TimeSpan.FromMilliseconds(100),
            BackoffMin = TimeSpan.FromMilliseconds(1),
            BackoffMax = TimeSpan.FromMilliseconds(10),
        });
        Watch(pool);
        using var stop = new CancellationTokenSource(); // counts from the first rental: a machine may stall before
        long rented = 0;
        Task[] renters = [.. Enumerable.Range(0, 24).Select(i => Task.Run(() => Rent(new Random(seed + i))))];
        Task[] parked = [.. Enumerable.Range(0, 4).Select(i => Task.Factory.StartNew(
            () => Park(new Random(seed - i)), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default))];
        Task changes = Task.Run(() => Change(new Random(~seed)));
        await Task.WhenAll([.. renters, .. parked, changes]).WaitAsync(TimeSpan.FromMinutes(3));
        Policy.CreateError = null;
        Eventually.True(() => pool.GetStatistics().Creating == 0, "the creations under way to end");
        pool.Validate();
        ResourcePoolStatistics end = pool.GetStatistics();
        output.WriteLine($"{rented} rentals; {end}");
        Assert.Equal(0, end.Leased + end.Waiting);
        Assert.True(rented > 0);
        Assert.Equal(end.Rented, end.Returned);
        using ResourceLease<FakeResource> last = await pool.RentAsync(TimeSpan.FromSeconds(60));
        Assert.Equal(0, last.Value.Ends);

        async Task Rent(Random random)
        {
            while (!stop.IsCancellationRequested)
            {
                try
                {
                    using var cancel = new CancellationTokenSource();
                    if (random.Next(10) == 0)
                    {
                        cancel.CancelAfter(random.Next(3));
                    }

                    ResourceLease<FakeResource> lease = await pool.RentAsync(TimeSpan.FromMilliseconds(random.Next(1, 300)), cancel.Token);
                    Use(lease, random);
                    if (random.Next(4) == 0)
                    {
                        await Task.Yield();
                    }

                    End(lease, random);
                }
                catch (Exception e) when (e is OperationCanceledException or ResourcePoolException and not ResourcePoolShutdownException)
                {
                }
            }
        }

        void Park(Random random)
        {
            while (!stop.IsCancellationRequested)
            {
                try
                {
                    ResourceLease<FakeResource> lease = pool.Rent(TimeSpan.FromMilliseconds(random.Next(1, 100)));
                    Use(lease, random);
                    End(lease, random);
                }
                catch (ResourcePoolException)
                {
                }
            }
        }

        void Use(ResourceLease<FakeResource> lease, Random random)
        {
            if (Interlocked.Increment(ref rented) == 1)
            {
                stop.CancelAfter(duration);
            }

            lease.Value.Enter();
            lease.Value.IsDead |= random.Next(100) == 0;
            lease.Value.Leave();
        }

        static void End(ResourceLease<FakeResource> lease, Random random)
        {
            switch (random.Next(40))
            {
                case 0:
                    lease.MarkBroken();
                    break;
                case 1:
                    lease.Detach();
                    break;
            }

            lease.Dispose();
            lease.Dispose();
        }

        async Task Change(Random random)
        {
            while (!stop.IsCancellationRequested)
            {
                await Task.Delay(random.Next(5));
                switch (random.Next(7))
                {
                    case 0:
                        _ = pool.ClearAsync();
                        break;
                    case 1:
                        _ = pool.RenewAsync(TimeSpan.FromMilliseconds(random.Next(1, 30)));
                        break;
                    case 2:
                        pool.Resize(0, random.Next(4, 9));
                        break;
                    case 3:
                        Policy.CreateError = Policy.CreateError is null ? new IOException("as asked") : null;
                        break;
                    case 4:
                        TaskCompletionSource gate = FakePolicy.Gate();
                        Policy.CreateGate = gate;
                        await Task.Delay(random.Next(2) == 0 ? 2 : 150);
                        Policy.CreateGate = null;
                        gate.SetResult();
                        break;
                    case 5:
                        _ = pool.GetStatistics();
                        pool.Validate();
                        break;
                    default:
                        _ = pool.WarmUpAsync(random.Next(4)).ContinueWith(static t => t.Exception, TaskScheduler.Default);
                        break;
                }
            }

            Policy.CreateGate = null;
            pool.Resize(0, 8);
        }
    }

    private static bool Chance(int number, int of) => number % of == of - 1;

    private static async ValueTask<bool> Later()
    {
        await Task.Delay(1);
        return true;
    }
}
