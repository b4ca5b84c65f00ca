using System.Collections.Concurrent;
using System.Diagnostics.Tracing;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics;

/// <summary>Pools answer a listener that asks, and no other.</summary>
[Collection(SharedPoolsCollection.Name)]
[Trait("Category", "Environment")]
public sealed class PoolPublisherTests : PoolTest
{
    private const EventKeywords PoolsKeyword = (EventKeywords)2;
    private const int PoolDescribed = 40;
    private const int PoolClassDescribed = 42;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    public void A_listener_that_asks_gets_every_pool_again_and_again()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "publisher buffers" });
        pool.Rent(100).Return();
        using BufferLease<byte> lease = pool.Rent(100);
        using Listener listener = new(new() { ["PoolInterval"] = "100" });
        Assert.True(
            SpinWait.SpinUntil(() => listener.Of("publisher buffers").Count() >= 2, Patience), "the pool did not answer twice");
        EventWrittenEventArgs answer = listener.Of("publisher buffers").First();
        Assert.Equal("Buffers", Payload(answer, "kind"));
        string[] names = ["rented", "returned", "missed", "leased"];
        Assert.Equal([2L, 1L, 1L, 1L], names.Select(name => Payload(answer, name)));
        Assert.Equal((-1, -1L), (Payload(answer, "waiting"), Payload(answer, "oldestMilliseconds")));
    }

    [Fact]
    public void A_listener_that_asks_for_shadows_gets_what_each_length_missed_and_dropped()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "publisher shadows", Budget = 0, MaxLength = 1 << 20 });
        using Listener listener = new(new() { ["PoolInterval"] = "100", ["PoolShadow"] = "1" });
        for (int i = 0; i < 10; i++)
        {
            pool.Rent(1000).Return();
            pool.Rent(2_000_000).Return();
        }

        Assert.True(
            SpinWait.SpinUntil(() => listener.Of("publisher shadows", PoolClassDescribed).Count() >= 4, Patience), "no shadow was written");
        EventWrittenEventArgs[] last = [.. listener.Of("publisher shadows", PoolClassDescribed).TakeLast(2)];
        EventWrittenEventArgs kept = last.Single(static one => (bool)Payload(one, "isKept")!);
        Assert.Equal((1024, 10L, 10L), (Payload(kept, "length"), Payload(kept, "missed"), Payload(kept, "dropped")));
        Assert.StartsWith("9,9,", (string)Payload(kept, "served")!, StringComparison.Ordinal);
        EventWrittenEventArgs unkept = last.Single(static one => !(bool)Payload(one, "isKept")!);
        Assert.Equal((2_000_000, 10L), (Payload(unkept, "length"), Payload(unkept, "missed")));
        EventWrittenEventArgs pools = listener.Of("publisher shadows").Last();
        Assert.Equal((0L, string.Empty), (Payload(pools, "budgetBytes"), Payload(pools, "misuseKinds")));
    }

    [Fact]
    public void Nothing_is_counted_for_a_listener_that_does_not_ask_for_shadows()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "publisher no shadows", Budget = 0 });
        using Listener listener = new(new() { ["PoolInterval"] = "100" });
        pool.Rent(1000).Return();
        Assert.True(SpinWait.SpinUntil(() => listener.Of("publisher no shadows").Count() >= 2, Patience), "the pool did not answer");
        Assert.Empty(listener.Of("publisher no shadows", PoolClassDescribed));
    }

    [Fact]
    public async Task A_resource_pool_that_captures_call_sites_says_where_its_oldest_lease_was_rented()
    {
        await using ResourcePool<object> pool = ResourcePool.Create(
            static _ => Task.FromResult(new object()),
            new() { Name = "publisher resources", MaxSize = 3, LeakCapture = LeakCapture.CallSite });
        using ResourceLease<object> lease = await pool.RentAsync();
        using Listener listener = new(new() { ["PoolInterval"] = "100" });
        Assert.True(SpinWait.SpinUntil(() => listener.Of("publisher resources").Any(), Patience), "the pool did not answer");
        EventWrittenEventArgs answer = listener.Of("publisher resources").First();
        Assert.Equal(("Resources", 3, 0), (Payload(answer, "kind"), Payload(answer, "maxSize"), Payload(answer, "waiting")));
        Assert.True((long)Payload(answer, "oldestMilliseconds")! >= 0);
        Assert.Contains(nameof(PoolPublisherTests), (string)Payload(answer, "oldestSite")!, StringComparison.Ordinal);
    }

    [Fact]
    public void A_listener_of_every_event_that_does_not_ask_gets_no_answers()
    {
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Name = "publisher silent" });
        using Listener listener = new(arguments: null);
        pool.Rent(100).Return();
        Assert.NotEmpty(listener.Written);
        Assert.DoesNotContain(listener.Written, static written => written.EventId >= PoolDescribed);
    }

    [Theory]
    [InlineData("1000", 1000)]
    [InlineData("1", 100)]
    [InlineData("9999999", 60_000)]
    [InlineData("-5", null)]
    [InlineData("soon", null)]
    [InlineData(null, null)]
    public void The_interval_is_kept_within_its_range(string? text, int? milliseconds) =>
        Assert.Equal(milliseconds, PoolPublisher.IntervalOf(new Dictionary<string, string?> { ["PoolInterval"] = text }));

    private static object? Payload(EventWrittenEventArgs written, string name) => written.Payload![written.PayloadNames!.IndexOf(name)];

    private sealed class Listener : EventListener
    {
        public Listener(Dictionary<string, string?>? arguments) => EnableEvents(
            EventSource.GetSources().Single(static source => source.Name == "Tidepool"),
            arguments is null ? EventLevel.Verbose : EventLevel.Critical,
            arguments is null ? EventKeywords.All : PoolsKeyword,
            arguments);

        public ConcurrentQueue<EventWrittenEventArgs> Written { get; } = [];

        public IEnumerable<EventWrittenEventArgs> Of(string pool, int id = PoolDescribed) =>
            Written.Where(written => written.EventId == id && (string?)Payload(written, "pool") == pool);

        protected override void OnEventWritten(EventWrittenEventArgs eventData) => Written.Enqueue(eventData);
    }
}
