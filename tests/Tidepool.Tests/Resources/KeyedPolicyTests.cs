using System.Collections.Concurrent;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

/// <summary>When a keyed pool asks for the policy of a key, and what it does with the answer.</summary>
public sealed class KeyedPolicyTests : ResourceTest
{
    [Fact]
    public async Task The_policy_of_a_key_is_asked_for_once_and_anew_when_the_key_comes_back()
    {
        List<string> asked = [];
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed(key =>
        {
            asked.Add(key);
            return Policy;
        });
        (await pool.RentAsync("a")).Dispose();
        (await pool.RentAsync("b")).Dispose();
        (await pool.RentAsync("a")).Dispose();
        await pool.ClearAsync("b"); // it has nothing now
        (await pool.RentAsync("a")).Dispose();
        (await pool.RentAsync("b")).Dispose();
        Assert.Equal(["a", "b", "b"], asked);
    }

    [Fact]
    public async Task Each_key_is_treated_by_its_own_policy()
    {
        var policies = new ConcurrentDictionary<string, FakePolicy>();
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed(
            key => policies.GetOrAdd(key, static _ => new FakePolicy()), total: 2);
        policies["down"] = new FakePolicy { CreateError = new IOException("down"), Permanent = static _ => true };
        (await pool.RentAsync("a")).Dispose();
        (await pool.RentAsync("b")).Dispose();
        await Assert.ThrowsAsync<ResourceCreateException>(() => pool.RentAsync("down").AsTask());
        await Assert.ThrowsAsync<ResourceCreateException>(() => pool.RentAsync("down").AsTask()); // at once: the failure lasts
        (await pool.RentAsync("c")).Dispose();
        Assert.Equal((1, 1, 1), (policies["a"].Made.Count, policies["b"].Made.Count, policies["c"].Made.Count));
        Assert.Equal([DestroyReason.Stolen], policies["a"].Destroyed.Select(static d => d.Reason));
        Assert.Equal((0, 1), (policies["b"].Destroyed.Count, policies["down"].Attempts));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task What_throws_instead_of_giving_a_policy_reaches_its_caller_and_leaves_nothing(bool isSync)
    {
        Exception? failure = new FormatException("no such host");
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed(_ => failure is null ? Policy : throw failure);
        Assert.Same(failure, await Assert.ThrowsAsync<FormatException>(() => Rent(pool, isSync)));
        Assert.Same(failure, await Assert.ThrowsAsync<FormatException>(() => pool.RentSharedAsync("a").AsTask()));
        Assert.Empty(pool.Keys);
        failure = null;
        await Rent(pool, isSync); // at once: it was no failed creation
        Assert.Equal(["a"], pool.Keys);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_policy_or_a_size_that_cannot_be_is_refused_with_the_key(bool isSync)
    {
        await using (KeyedResourcePool<string, FakeResource> pool = NewKeyed(static _ => null!))
        {
            InvalidOperationException refusal = await Assert.ThrowsAsync<InvalidOperationException>(() => Rent(pool, isSync));
            Assert.Equal("The policy for the key 'a' is null.", refusal.Message);
            Assert.Empty(pool.Keys);
        }

        await using (KeyedResourcePool<string, FakeResource> pool = NewKeyed(_ => Policy, sizeOf: static _ => 0))
        {
            InvalidOperationException refusal = await Assert.ThrowsAsync<InvalidOperationException>(() => Rent(pool, isSync));
            Assert.Equal("MaxSizeOf gives 0 for the key 'a'; allowed is 1 or more, or null.", refusal.Message);
            Assert.Empty(pool.Keys);
        }
    }

    [Fact]
    public async Task Rentals_that_race_for_a_new_key_have_one_policy()
    {
        using var both = new Barrier(2);
        ConcurrentQueue<FakePolicy> given = [];
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed(_ =>
        {
            Assert.True(both.SignalAndWait(Eventually.Limit)); // not under a lock: the other one comes, too
            var policy = new FakePolicy();
            given.Enqueue(policy);
            return policy;
        });
        Task<KeyedResourceLease<string, FakeResource>>[] rentals = [.. Enumerable.Range(0, 2).Select(_ => Task.Factory.StartNew(
            () => pool.Rent("a", Eventually.Limit), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default))];
        foreach (KeyedResourceLease<string, FakeResource> lease in await Soon(Task.WhenAll(rentals)))
        {
            lease.Dispose();
        }

        Assert.Equal([0, 2], given.Select(static policy => policy.Attempts).Order());
        Assert.Equal(2, pool.GetTotal());
    }

    [Fact]
    public async Task A_policy_may_be_made_with_what_the_pool_has_of_another_key()
    {
        KeyedResourcePool<string, FakeResource>? pool = null;
        await using KeyedResourcePool<string, FakeResource> made = pool = NewKeyed(key =>
        {
            if (key != "directory")
            {
                pool!.Rent("directory").Dispose();
            }

            return Policy;
        });
        (await pool.RentAsync("a")).Dispose();
        Assert.Equal(["a", "directory"], pool.Keys.Order());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_pool_that_was_shut_down_asks_for_no_policy(bool isSync)
    {
        int asked = 0;
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(_ => ++asked > 0 ? Policy : null!);
        Assert.True(await Soon(pool.ShutdownAsync(TimeSpan.Zero)));
        ResourcePoolShutdownException refusal = await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => Rent(pool, isSync));
        Assert.Equal((pool.Name, "a", 0), (refusal.PoolName, refusal.Key, asked));
        Assert.Empty(pool.Keys);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_key_whose_first_rental_was_cancelled_meanwhile_is_forgotten(bool isSync)
    {
        using var cancellation = new CancellationTokenSource();
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed(_ =>
        {
            cancellation.Cancel();
            return Policy;
        });
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Rent(pool, isSync, cancellation.Token));
        Assert.Empty(pool.Keys);
        Assert.Equal(0, Policy.Attempts);
    }

    [Fact]
    public void Options_of_keys_are_checked_by_name()
    {
        Assert.Throws<ArgumentNullException>(
            "policy", () => new KeyedResourcePool<string, FakeResource>(null!, new() { MaxTotal = 1, PerKey = Options() }));
        Assert.Throws<ArgumentNullException>("options", () => new KeyedResourcePool<string, FakeResource>(_ => Policy, null!));
        string missing = Refused<ArgumentNullException>(new() { MaxTotal = 1, PerKey = null! });
        Assert.StartsWith("PerKey is null; allowed is ", missing, StringComparison.Ordinal);
        Refuses("MaxTotal is 0; allowed is 1 or more.", new() { MaxTotal = 0, PerKey = Options() });
        Refuses("MaxKeys is 0; allowed is 1 or more.", new() { MaxTotal = 1, MaxKeys = 0, PerKey = Options() });
        Refuses("MaxSize is 0; allowed is 1 or more.", new() { MaxTotal = 1, PerKey = Options(max: 0) });
        Refuses("MinSize is 1; allowed is 0 with keys", new() { MaxTotal = 1, PerKey = Options(min: 1) });
        Refuses("MinIdle is 2; allowed is 0 with keys", new() { MaxTotal = 1, PerKey = Options(minIdle: 2) });

        void Refuses(string message, KeyedResourcePoolOptions<string> options) =>
            Assert.StartsWith(message, Refused<ArgumentOutOfRangeException>(options), StringComparison.Ordinal);
    }

    private string Refused<TException>(KeyedResourcePoolOptions<string> options)
        where TException : ArgumentException =>
        Assert.Throws<TException>(nameof(options), () => new KeyedResourcePool<string, FakeResource>(_ => Policy, options)).Message;

    /// <summary>Rents for a moment; what is thrown comes with the task, as it does for all who await.</summary>
    private static Task Rent(KeyedResourcePool<string, FakeResource> pool, bool isSync, CancellationToken cancellation = default)
    {
        if (isSync)
        {
            return Task.Factory.StartNew(
                () => pool.Rent("a", cancellation).Dispose(),
                CancellationToken.None,
                TaskCreationOptions.LongRunning,
                TaskScheduler.Default);
        }

        ValueTask<KeyedResourceLease<string, FakeResource>> rental = default;
        Exception? thrown = Record.Exception(() =>
        {
            rental = pool.RentAsync("a", cancellation);
        });
        Assert.True(thrown is null, $"thrown instead of given with the task: {thrown}");
        return End(rental);

        static async Task End(ValueTask<KeyedResourceLease<string, FakeResource>> rental) => (await rental).Dispose();
    }

    private KeyedResourcePool<string, FakeResource> NewKeyed(
        Func<string, ResourcePolicy<FakeResource>> policy, int total = 10, Func<string, int?>? sizeOf = null) => new(policy, new()
        {
            MaxTotal = total,
            MaxSizeOf = sizeOf,
            PerKey = Options(),
        });
}
