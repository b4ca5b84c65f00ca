using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Resources;

/// <summary>Keys that are used once leave nothing behind. Alone in the process, because its memory is measured.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class ColdKeyTests(ITestOutputHelper output)
{
    private const long Allowed = 100_000; // bytes in all: the process itself is never quite the same

    [Fact]
    public Task Cold_keys_leave_no_memory_behind() => Churn(20_000);

    [Fact]
    [Trait("Category", "Slow")]
    public Task A_million_cold_keys_leave_no_memory_behind() => Churn(1_000_000);

    private async Task Churn(int keys)
    {
        var time = new ManualTime();
        var policy = new Policy();
        await using var pool = new KeyedResourcePool<string, object>(_ => new KeyPolicy(policy), new()
        {
            MaxTotal = 10,
            PerKey = new() { MaxSize = 1, TimeProvider = time, Executor = static item => item.Execute() },
        });
        await Use(0, 2000);
        long before = Settled();
        await Use(2000, keys);
        long left = Settled() - before;
        output.WriteLine($"{left} bytes are left of {keys} keys");
        Assert.Equal((2000 + keys, 2000 + keys, (long)2000 + keys), (policy.Made, policy.Ended, pool.Forgotten));
        Assert.True(left < Allowed, $"{left} bytes are left of {keys} keys");

        async Task Use(int first, int count)
        {
            for (int i = first; i < first + count; i++)
            {
                (await pool.RentAsync($"{i}")).Dispose();
                if (i % 1000 == 0)
                {
                    Assert.InRange(pool.Keys.Count, 1, 10);
                }
            }

            time.Advance(TimeSpan.FromMinutes(6));
            Assert.Empty(pool.Keys);
            Assert.Equal(0, pool.GetTotal());
            pool.Validate();
        }
    }

    private static long Settled()
    {
        Eventually.Collect();
        return GC.GetTotalMemory(forceFullCollection: true);
    }

    private sealed class Policy
    {
        internal int Made { get; set; }

        internal int Ended { get; set; }
    }

    /// <summary>One for each key, so that those are seen to leave nothing behind, too.</summary>
    private sealed class KeyPolicy(Policy policy) : ResourcePolicy<object>
    {
        public override ValueTask<object> CreateAsync(CancellationToken cancellationToken)
        {
            policy.Made++;
            return new(new object());
        }

        public override ValueTask DestroyAsync(object resource, DestroyReason reason)
        {
            policy.Ended++;
            return default;
        }
    }
}
