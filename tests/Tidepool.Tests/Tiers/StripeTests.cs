using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

/// <summary>One stripe of the shared tier, by single items, by chunks and by trims.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class StripeTests : PoolTest
{
    private const int ChunkCapacity = 64;

    private readonly SimpleObjectPool<Gadget> _pool = new(new() { ItemBytes = 100, Budget = 100 });

    [Theory]
    [InlineData(1)]
    [InlineData(14)]
    [InlineData(15)]
    [InlineData(40)]
    public void Single_items_come_back_in_the_reverse_order(int count)
    {
        Stripe stripe = NewStripe();
        object[] items = [.. Enumerable.Range(0, count).Select(static _ => new object())];
        foreach (object item in items)
        {
            Assert.Equal(ReturnOutcome.Returned, stripe.ReturnOne(item, hasTicket: false, _pool.Core.Budget));
            AssertValid(stripe, [.. items.TakeWhile(i => i != item), item]);
        }

        foreach (object item in items.Reverse())
        {
            Assert.Same(item, stripe.RentOne());
        }

        Assert.True(stripe.IsEmpty);
        Assert.Null(stripe.RentOne());
        SharedCounts counts = default;
        stripe.AddTo(ref counts);
        Assert.Equal((0, count, count), (counts.Idle, counts.Rented, counts.Returned));
    }

    [Fact]
    public void A_chunk_lies_on_top_of_single_items_that_came_before_it_and_below_later_ones()
    {
        Stripe stripe = NewStripe();
        object before = new(), inside = new(), after = new();
        stripe.ReturnOne(before, hasTicket: false, _pool.Core.Budget);
        Push(stripe, inside);
        stripe.ReturnOne(after, hasTicket: false, _pool.Core.Budget);
        Assert.Equal([after, inside, before], new[] { stripe.RentOne(), stripe.RentOne(), stripe.RentOne() });
    }

    [Fact]
    public void What_the_budget_refuses_changes_nothing()
    {
        Stripe stripe = NewStripe();
        Budget budget = new(250, null);
        Assert.Equal(ReturnOutcome.Returned, stripe.ReturnOne(new object(), hasTicket: false, budget));
        Assert.Equal(ReturnOutcome.Returned, stripe.ReturnOne(new object(), hasTicket: false, budget));
        Assert.Equal(ReturnOutcome.Closed, stripe.ReturnOne(new object(), hasTicket: false, budget));
        Assert.Equal(200, budget.Used);
        Assert.NotNull(stripe.RentOne());
        Assert.Equal(ReturnOutcome.Returned, stripe.ReturnOne(new object(), hasTicket: false, budget));
        stripe.RentOne();
        stripe.Release(budget);
        Assert.Equal(100, budget.Used);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(13)]
    [InlineData(14)]
    [InlineData(29)]
    public void An_item_that_lies_in_the_open_chunk_is_not_taken_again_without_a_ticket(int count)
    {
        Stripe stripe = NewStripe();
        object[] items = [.. Enumerable.Range(0, count).Select(static _ => new object())];
        Array.ForEach(items, item => stripe.ReturnOne(item, hasTicket: false, _pool.Core.Budget));
        object[] open = items[((count - 1) / Items.Capacity * Items.Capacity)..];
        foreach (object item in open)
        {
            Assert.True(stripe.HoldsLately(item));
            Assert.Equal(ReturnOutcome.Retired, stripe.ReturnOne(item, hasTicket: false, _pool.Core.Budget));
        }

        AssertValid(stripe, items);
        SharedCounts counts = default;
        stripe.AddTo(ref counts);
        Assert.Equal((count, count), (counts.Idle, counts.Returned));
        Assert.Same(items[^1], stripe.RentOne());
        Assert.False(stripe.HoldsLately(items[^1]));
        Assert.Equal(ReturnOutcome.Returned, stripe.ReturnOne(items[^1], hasTicket: false, _pool.Core.Budget));
    }

    [Fact]
    public void An_item_of_the_chunk_that_was_put_last_is_not_taken_again_either()
    {
        Stripe stripe = NewStripe();
        object[] items = [.. Enumerable.Range(0, 10).Select(static _ => new object())];
        Push(stripe, items);
        Assert.Equal(ReturnOutcome.Retired, stripe.ReturnOne(items[3], hasTicket: false, _pool.Core.Budget));
        AssertValid(stripe, items);
    }

    [Fact]
    public void With_a_ticket_nothing_is_compared()
    {
        Stripe stripe = NewStripe();
        object item = new();
        stripe.ReturnOne(item, hasTicket: true, _pool.Core.Budget);
        Assert.Equal(ReturnOutcome.Returned, stripe.ReturnOne(item, hasTicket: true, _pool.Core.Budget));
        Assert.False(stripe.IsValid(new HashSet<object>(ReferenceEqualityComparer.Instance)));
    }

    [Fact]
    public void Threads_that_meet_twice_within_few_steps_get_stripes_of_their_own()
    {
        Bucket bucket = _pool.Core.Buckets()[0];
        Stripe stripe = NewStripe();
        bucket.Shared.IsGathered = true;
        stripe.NoteMeeting();
        Assert.True(bucket.Shared.IsGathered);
        ComeAndGo(stripe, 16);
        stripe.NoteMeeting();
        Assert.True(bucket.Shared.IsGathered);
        ComeAndGo(stripe, 15);
        stripe.NoteMeeting();
        Assert.False(bucket.Shared.IsGathered);
    }

    [Fact]
    public void An_epoch_takes_the_oldest_half_of_the_chunks_that_no_rental_reached()
    {
        Stripe stripe = NewStripe();
        object[] items = [.. Enumerable.Range(0, 40).Select(static _ => new object())];
        Array.ForEach(items, item => stripe.ReturnOne(item, hasTicket: false, _pool.Core.Budget));
        var taken = new List<Chunk>();
        stripe.Trim(all: false, taken);
        Assert.Empty(taken); // all have come since the last epoch
        stripe.Trim(all: false, taken);
        Assert.Equal(items[..28], taken.SelectMany(static c => c.Content().ToArray()));
        AssertValid(stripe, items[28..]);
        for (int i = 0; i < 12; i++)
        {
            stripe.RentOne();
        }

        taken.Clear();
        stripe.Trim(all: false, taken);
        Assert.Empty(taken);
    }

    [Fact]
    public void An_epoch_leaves_the_single_items_that_come_and_go()
    {
        Stripe stripe = NewStripe();
        object[] items = [.. Enumerable.Range(0, 10).Select(static _ => new object())];
        Array.ForEach(items, item => stripe.ReturnOne(item, hasTicket: false, _pool.Core.Budget));
        var taken = new List<Chunk>();
        stripe.Trim(all: false, taken);
        Array.ForEach(items[7..], _ => stripe.RentOne());
        Array.ForEach(items[7..], item => stripe.ReturnOne(item, hasTicket: false, _pool.Core.Budget));
        stripe.Trim(all: false, taken);
        Assert.Equal(items[..7], taken.SelectMany(static c => c.Content().ToArray()));
        AssertValid(stripe, items[7..]);
        stripe.Release(_pool.Core.Budget);
        Assert.Equal(3 * 100, _pool.Core.Budget.Used);

        // Nothing came since, so all of them are idle.
        stripe.Trim(all: false, taken);
        Assert.True(stripe.IsEmpty);
    }

    [Fact]
    public void A_stripe_holds_what_a_simple_stack_would_hold_whatever_is_done_with_it()
    {
        for (int seed = 0; seed < 200; seed++)
        {
            RunAtRandom(new Random(seed));
        }
    }

    protected override void Dispose(bool disposing)
    {
        _pool.Dispose();
        base.Dispose(disposing);
    }

    private void RunAtRandom(Random random)
    {
        Stripe stripe = NewStripe();
        Budget budget = new(8000, null);
        List<object> stack = [];
        int rate = random.Next(20, 80);
        for (int step = 0; step < 200; step++)
        {
            switch (random.Next(100))
            {
                case < 3:
                    var taken = new List<Chunk>();
                    stripe.Trim(all: random.Next(4) == 0, taken);
                    object?[] oldest = [.. taken.SelectMany(static c => c.Content().ToArray())];
                    Assert.Equal(oldest, stack[..oldest.Length]);
                    stack.RemoveRange(0, oldest.Length);
                    break;
                case < 6:
                    Chunk? spare = null;
                    object?[] newest = stripe.Pop(ref spare)?.Content().ToArray() ?? [];
                    Assert.Equal(stack.Count > 0, newest.Length > 0);
                    Assert.Equal(newest, stack[^newest.Length..]);
                    stack.RemoveRange(stack.Count - newest.Length, newest.Length);
                    break;
                case < 9 when stack.Count < 66:
                    object[] items = [.. Enumerable.Range(0, random.Next(1, 15)).Select(static _ => new object())];
                    Push(stripe, items);
                    stack.AddRange(items);
                    break;
                case var other when other < rate:
                    var item = new object();
                    if (stripe.ReturnOne(item, hasTicket: false, budget) == ReturnOutcome.Returned)
                    {
                        stack.Add(item);
                        Assert.Equal(ReturnOutcome.Retired, stripe.ReturnOne(item, hasTicket: false, budget));
                    }

                    break;
                default:
                    Assert.Same(stack.Count > 0 ? stack[^1] : null, stripe.RentOne());
                    stack.RemoveRange(Math.Max(0, stack.Count - 1), Math.Min(1, stack.Count));
                    break;
            }

            Assert.Equal(stack.Count == 0, stripe.IsEmpty);
            AssertValid(stripe, stack);
        }
    }

    private void ComeAndGo(Stripe stripe, int times)
    {
        for (int i = 0; i < times; i++)
        {
            stripe.ReturnOne(new object(), hasTicket: false, _pool.Core.Budget);
            stripe.RentOne();
        }
    }

    private void Push(Stripe stripe, params object[] items)
    {
        Chunk chunk = new(ChunkCapacity);
        Array.ForEach(items, chunk.Add);
        Chunk? spare = null;
        Assert.True(stripe.TryPush(chunk, new Budget(long.MaxValue, null), ref spare));
    }

    private Stripe NewStripe() => new(_pool.Core.Buckets()[0]);

    private static void AssertValid(Stripe stripe, IReadOnlyCollection<object> items)
    {
        var seen = new HashSet<object>(ReferenceEqualityComparer.Instance);
        Assert.True(stripe.IsValid(seen));
        Assert.True(seen.SetEquals(items));
    }
}
