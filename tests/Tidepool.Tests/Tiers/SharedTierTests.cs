using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

[Collection(SharedPoolsCollection.Name)]
public sealed class SharedTierTests : PoolTest
{
    [Theory]
    [InlineData(0, 1)] // no setting is refused
    [InlineData(1, 1)]
    [InlineData(2, 2)]
    [InlineData(6, 8)]
    [InlineData(32, 32)]
    [InlineData(192, 32)]
    public void Each_processor_has_a_stripe_up_to_32(int processors, int stripes) =>
        Assert.Equal(stripes, SharedTier.StripesFor(processors));

    [Fact]
    public void Tests_have_one_stripe() => Assert.Equal("1", AppContext.GetData("Tidepool.SharedStripes"));

    [Fact]
    public void Single_items_are_found_in_every_stripe_and_go_to_one_while_they_are_gathered()
    {
        Bucket bucket = NewPool<byte>().Core.FindBucket(1000)!;
        var tier = new SharedTier(bucket, stripes: 32);
        object[] items = [.. Enumerable.Range(0, 40).Select(static _ => new object())];
        Threads.RunAll(4, thread =>
        {
            foreach (object item in items[(10 * thread)..(10 * (thread + 1))])
            {
                tier.ReturnOne(item, hasTicket: true);
            }
        });
        tier.IsGathered = true;
        object[] taken = [.. Enumerable.Range(0, 40).Select(_ => tier.TryRentOne()!)];
        Assert.Equal(40, taken.Distinct().Count());
        Assert.Null(tier.TryRentOne());

        // On whatever processors they are: the one that came last goes first.
        foreach (object item in items)
        {
            Threads.Run(() => tier.ReturnOne(item, hasTicket: true));
        }

        Assert.True(tier.HoldsLately(items[^1]));
        foreach (object item in items.Reverse())
        {
            Threads.Run(() => Assert.Same(item, tier.TryRentOne()));
        }

        Assert.Equal((0, 80, 80), (tier.Count().Idle, tier.Count().Rented, tier.Count().Returned));
        tier.Release();
    }

    [Fact]
    public void An_empty_chunk_makes_no_stripe_on_a_processor_that_put_nothing_there()
    {
        Bucket bucket = NewPool<byte>().Core.FindBucket(1000)!;
        Assert.Equal(0, Allocations.Usual(() =>
        {
            var tier = new SharedTier(bucket);
            var chunk = new Chunk(1);
            return Allocations.Of(() => tier.GiveEmpty(chunk));
        }));
    }
}
