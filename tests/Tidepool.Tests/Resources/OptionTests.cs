using Tidepool.Tests.Resources.Support;

namespace Tidepool.Tests.Resources;

public sealed class OptionTests : ResourceTest
{
    public static TheoryData<string, ResourcePoolOptions> Wrong => new()
    {
        { "MaxSize", new() { MaxSize = 0 } },
        { "MinSize", new() { MaxSize = 2, MinSize = 3 } },
        { "MinSize", new() { MaxSize = 2, MinSize = -1 } },
        { "MinIdle", new() { MaxSize = 2, MinIdle = 3 } },
        { "MaxCreateConcurrency", new() { MaxSize = 2, MaxCreateConcurrency = 0 } },
        { "MaxWaiters", new() { MaxSize = 2, MaxWaiters = 0 } },
        { "RentTimeout", new() { MaxSize = 2, RentTimeout = TimeSpan.FromSeconds(-2) } },
        { "CreateTimeout", new() { MaxSize = 2, CreateTimeout = TimeSpan.Zero } },
        { "PolicyTimeout", new() { MaxSize = 2, PolicyTimeout = TimeSpan.FromDays(60) } },
        { "IdleTimeout", new() { MaxSize = 2, IdleTimeout = TimeSpan.Zero } },
        { "IdleTimeout", new() { MaxSize = 2, IdleTimeout = TimeSpan.FromHours(1) } },
        { "IdleTimeout", new() { MaxSize = 2, IdleTimeout = TimeSpan.FromSeconds(61), MaxLifetime = TimeSpan.FromSeconds(60) } },
        { "LifetimeJitter", new() { MaxSize = 2, LifetimeJitter = 1.5 } },
        { "BackoffMax", new() { MaxSize = 2, BackoffMax = TimeSpan.FromMilliseconds(1) } },
        { "ResetMode", new() { MaxSize = 2, ResetMode = (ResetMode)9 } },
    };

    [Theory]
    [MemberData(nameof(Wrong))]
    public void A_wrong_option_is_named_with_its_value_and_range(string name, ResourcePoolOptions options)
    {
        ArgumentOutOfRangeException wrong = Assert.Throws<ArgumentOutOfRangeException>(
            () => new ResourcePool<FakeResource>(Policy, options));
        Assert.Equal("options", wrong.ParamName);
        Assert.StartsWith($"{name} is ", wrong.Message, StringComparison.Ordinal);
        Assert.NotNull(wrong.ActualValue);
        Assert.Contains("allowed is", wrong.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_missing_clock_is_named()
    {
        ArgumentNullException missing = Assert.Throws<ArgumentNullException>(
            "options", () => new ResourcePool<FakeResource>(Policy, new() { MaxSize = 1, TimeProvider = null! }));
        Assert.StartsWith("TimeProvider is null; allowed is ", missing.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_copy_with_another_value_has_all_others_and_defaults_that_follow_it()
    {
        ResourcePoolOptions options = Options(max: 7, min: 3);
        Assert.Equal(options, options with { MaxSize = 8 } with { MaxSize = 7 });
        Assert.Equal(3, (options with { MaxSize = 8 }).MinSize);
        Assert.Equal(Second, (options with { MaxLifetime = Second }).IdleTimeout);
        Assert.Equal(2 * Second, (options with { IdleTimeout = 2 * Second, MaxLifetime = 3 * Second }).IdleTimeout);
    }

    [Fact]
    public async Task The_default_of_IdleTimeout_is_never_beyond_MaxLifetime()
    {
        Assert.Equal(TimeSpan.FromMinutes(5), new ResourcePoolOptions { MaxSize = 1 }.IdleTimeout);
        Assert.Equal(TimeSpan.FromMinutes(5), new ResourcePoolOptions { MaxSize = 1, MaxLifetime = Timeout.InfiniteTimeSpan }.IdleTimeout);
        var brief = new ResourcePoolOptions { MaxSize = 1, MaxLifetime = TimeSpan.FromMinutes(1) };
        Assert.Equal(TimeSpan.FromMinutes(1), brief.IdleTimeout);
        ResourcePoolOptions[] allowed =
        [
            brief,
            new() { MaxSize = 1, MaxLifetime = Second, IdleTimeout = Second },
            new() { MaxSize = 1, MaxLifetime = Second, IdleTimeout = Timeout.InfiniteTimeSpan },
        ];
        foreach (ResourcePoolOptions good in allowed)
        {
            await new ResourcePool<FakeResource>(Policy, good).DisposeAsync();
        }
    }

    [Fact]
    public async Task Null_and_wrong_timeouts_are_refused()
    {
        Assert.Throws<ArgumentNullException>(() => new ResourcePool<FakeResource>(null!, Options()));
        Assert.Throws<ArgumentNullException>(() => new ResourcePool<FakeResource>(Policy, null!));
        ResourcePool<FakeResource> pool = NewPool();
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => pool.RentAsync(TimeSpan.FromSeconds(-3)).AsTask());
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Rent(TimeSpan.FromDays(100)));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => pool.ShutdownAsync(TimeSpan.FromDays(-100)));
    }
}
