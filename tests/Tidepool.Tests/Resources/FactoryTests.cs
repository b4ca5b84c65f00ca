using Tidepool.Tests.Resources.Support;

namespace Tidepool.Tests.Resources;

/// <summary>Pools that are made from functions.</summary>
public sealed class FactoryTests : ResourceTest
{
    [Fact]
    public async Task A_function_that_creates_is_enough_and_its_resources_are_disposed()
    {
        ResourcePool<MemoryStream> pool = ResourcePool.Create(static _ => Task.FromResult(new MemoryStream()), Options());
        ResourceLease<MemoryStream> lease = await pool.RentAsync();
        MemoryStream first = lease.Value;
        lease.Dispose();
        using (ResourceLease<MemoryStream> again = await pool.RentAsync())
        {
            Assert.Same(first, again.Value);
        }

        await pool.DisposeAsync();
        Assert.False(first.CanRead);
    }

    [Fact]
    public async Task Functions_that_validate_and_reset_decide_which_resource_is_used_again()
    {
        (int created, int validated, int reset) = (0, 0, 0);
        bool isGood = true;
        await using ResourcePool<object> pool = ResourcePool.Create(
            _ => Task.FromResult((object)++created),
            Options(validateAfter: 0, reset: ResetMode.OnReturn),
            (_, _) => new ValueTask<bool>(++validated > 0 && isGood),
            (_, _) => new ValueTask<bool>(++reset > 0));
        await (await pool.RentAsync()).DisposeAsync();
        await (await pool.RentAsync()).DisposeAsync();
        Assert.Equal((1, 1, 2), (created, validated, reset));
        isGood = false;
        await (await pool.RentAsync()).DisposeAsync();
        Assert.Equal(2, created);
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.ValidationFailed));
    }

    [Fact]
    public async Task A_caller_that_blocks_is_told_what_to_do()
    {
        await using ResourcePool<object> pool = ResourcePool.Create(static _ => Task.FromResult(new object()), Options());
        NotSupportedException refusal = Assert.Throws<NotSupportedException>(() => pool.Rent());
        Assert.Equal(
            "This pool was made from a function, which creates only asynchronously. Use RentAsync, warm the pool up, or derive a policy "
                + "from ResourcePolicy<Object> that overrides Create.",
            refusal.Message);
        await pool.WarmUpAsync(1);
        pool.Rent().Dispose();
    }

    [Fact]
    public void What_is_missing_is_refused()
    {
        Assert.Equal("create", Assert.Throws<ArgumentNullException>(() => ResourcePool.Create<object>(null!, Options())).ParamName);
        Assert.Equal(
            "options",
            Assert.Throws<ArgumentNullException>(() => ResourcePool.Create(static _ => Task.FromResult(new object()), null!)).ParamName);
    }
}
