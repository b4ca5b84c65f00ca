using System.Diagnostics.Tracing;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

[Collection(SharedPoolsCollection.Name)]
public sealed class LeakTests : ResourceTest
{
    [Fact]
    public void An_overdue_lease_is_reported_once_with_its_place_and_its_return_is_told()
    {
        using var listener = new Listener();
        ResourcePool<FakeResource> pool = NewPool(Options(capture: LeakCapture.CallSite, leakAfter: 1000));
        listener.Watched = pool;
        ResourceLease<FakeResource> lease = RentInAMethodWithThisName(pool);
        Time.Advance(999);
        Assert.Equal(0, pool.GetStatistics().Overdue);
        Time.Advance(1);
        Time.Advance(100_000);
        Assert.Equal(1, pool.GetStatistics().Overdue);
        EventWrittenEventArgs overdue = Assert.Single(listener.Of("LeaseOverdue", pool.Name));
        Assert.Contains(nameof(RentInAMethodWithThisName), (string)overdue.Payload![2]!, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', (string)overdue.Payload[2]!);
        lease.Dispose();
        Assert.Single(listener.Of("LeaseRecovered", pool.Name));
        Assert.False(listener.WasUnderGate);
    }

    [Fact]
    public async Task A_timeout_names_the_oldest_holders()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, capture: LeakCapture.Stack));
        ResourceLease<FakeResource> lease = RentInAMethodWithThisName(pool);
        Task<ResourceLease<FakeResource>> waiting = Wait(pool, Second);
        Time.Advance(1000);
        ResourcePoolTimeoutException timeout = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(waiting));
        Assert.Contains(nameof(RentInAMethodWithThisName), Assert.Single(timeout.OldestHolders), StringComparison.Ordinal);
        Assert.Contains(nameof(RentInAMethodWithThisName), timeout.Message, StringComparison.Ordinal);
        lease.Dispose();
    }

    [Fact]
    public async Task A_stack_begins_at_the_caller_with_file_and_line_and_ends_before_the_thread_pool()
    {
        await using var pool = new ResourcePool<FakeResource>(
            new FakePolicy(), new() { MaxSize = 1, RentTimeout = TimeSpan.Zero, LeakCapture = LeakCapture.Stack });
        await pool.WarmUpAsync(1);
        using ResourceLease<FakeResource> held = await Task.Run(() => RentInAMethodWithThisName(pool));
        ResourcePoolTimeoutException late = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => pool.RentAsync().AsTask());
        string[] frames = Assert.Single(late.OldestHolders).Split('\n');
        Assert.StartsWith($"   at {typeof(LeakTests).FullName}.{nameof(RentInAMethodWithThisName)}(", frames[0], StringComparison.Ordinal);
        Assert.Contains($"{nameof(LeakTests)}.cs:line ", frames[0], StringComparison.Ordinal);
        Assert.StartsWith($"   at {typeof(LeakTests).FullName}.", frames[^1], StringComparison.Ordinal);
        Assert.DoesNotContain(frames, static frame => frame.StartsWith("   at System.Threading.", StringComparison.Ordinal));
    }

    [Fact]
    public void A_dropped_lease_gives_its_place_back_and_its_resource_is_ended_not_reused()
    {
        using var listener = new Listener();
        var pool = new ResourcePool<FakeResource>(Policy, new ResourcePoolOptions
        {
            Name = "dropped",
            MaxSize = 1,
            ReclaimLeaks = true,
            LeakCapture = LeakCapture.CallSite,
        });
        Watch(pool);
        Drop(pool);
        Eventually.TrueAfterCollections(() => pool.GetStatistics().Reclaimed == 1, "the dropped lease to be found");
        Eventually.True(() => Policy.Made.First().Ends == 1, "its resource to be destroyed");
        ResourceLease<FakeResource> next = pool.Rent(TimeSpan.FromSeconds(30));
        Assert.Equal(2, next.Value.Number);
        next.Dispose();
        Eventually.TrueAfterCollections(() => listener.Of("LeaseReclaimed", "dropped").Any(), "the report");
        Assert.Contains(nameof(Drop), (string)listener.Of("LeaseReclaimed", "dropped").Single().Payload![1]!, StringComparison.Ordinal);
        Assert.Equal(1, pool.GetStatistics().Reclaimed);
    }

    [Fact]
    public async Task Every_event_of_a_keyed_pool_carries_the_key()
    {
        const string name = "events with keys";
        string[] expected = ["LeaseOverdue", "LeaseReclaimed", "LeaseRecovered", "PolicyFailed", "ResourceMarkedBroken"];
        using var listener = new Listener();
        var perKey = new ResourcePoolOptions
        {
            Name = name,
            MaxSize = 2,
            LeakThreshold = Second,
            ReclaimLeaks = true,
            TimeProvider = Time,
            Executor = static item => item.Execute(),
        };
        await using var pool = new KeyedResourcePool<string, FakeResource>(
            static _ => new Undying(), new() { PerKey = perKey, MaxTotal = 10 });
        using (KeyedResourceLease<string, FakeResource> lease = await pool.RentAsync("the key"))
        {
            Time.Advance(1000);
            lease.MarkBroken(new IOException("cut"));
        }

        Drop(pool);
        Eventually.TrueAfterCollections(() => listener.Of("LeaseReclaimed", name).Count > 0, "the dropped lease to be found");
        Assert.All(expected, e => Assert.NotEmpty(listener.Of(e, name)));
        Assert.All(
            expected.SelectMany(e => listener.Of(e, name)),
            static e => Assert.Equal("the key", e.Payload![e.PayloadNames!.IndexOf("key")]));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(KeyedResourcePool<string, FakeResource> pool) =>
        pool.RentAsync("the key").AsTask().GetAwaiter().GetResult();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(ResourcePool<FakeResource> pool) => pool.Rent(TimeSpan.FromSeconds(30));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ResourceLease<FakeResource> RentInAMethodWithThisName(ResourcePool<FakeResource> pool)
    {
        Task<ResourceLease<FakeResource>> rental = pool.RentAsync().AsTask();
        return rental.GetAwaiter().GetResult();
    }

    private sealed class Undying : ResourcePolicy<FakeResource>
    {
        public override ValueTask<FakeResource> CreateAsync(CancellationToken cancellationToken) => new(new FakeResource(1));

        public override ValueTask DestroyAsync(FakeResource resource, DestroyReason reason) => throw new IOException("not yet");
    }

    private sealed class Listener : EventListener
    {
        private readonly List<EventWrittenEventArgs> _events = [];

        public ResourcePool<FakeResource>? Watched { get; set; }

        /// <summary>Whether it was called while the pool was locked, when it could neither ask it nor wait for others.</summary>
        public bool WasUnderGate { get; private set; }

        public IReadOnlyList<EventWrittenEventArgs> Of(string name, string pool)
        {
            lock (_events)
            {
                return [.. _events.Where(e => e.EventName == name && e.Payload!.Contains(pool))];
            }
        }

        protected override void OnEventSourceCreated(EventSource eventSource)
        {
            if (eventSource.Name == "Tidepool")
            {
                EnableEvents(eventSource, EventLevel.Informational);
            }
        }

        protected override void OnEventWritten(EventWrittenEventArgs eventData)
        {
            WasUnderGate |= Watched?.Core.Gate.IsHeldByCurrentThread == true;
            lock (_events)
            {
                _events.Add(eventData);
            }
        }
    }
}
