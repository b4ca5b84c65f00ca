using System.Diagnostics;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics.Telemetry;

/// <summary>Spans of waits, creations and resets, as OpenTelemetry's SDK collects them.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class SpanTests : ResourceTest, IDisposable
{
    private static readonly ActivitySource Source = new(Collected.TestSource);
    private readonly Collected _collected = new();
    private Queue<IThreadPoolWorkItem>? _delayed;

    public void Dispose() => _collected.Dispose();

    [Fact]
    public void A_rental_of_an_idle_resource_has_no_span()
    {
        ResourcePool<FakeResource> pool = NewPool();
        Rent(pool).Dispose();
        int before = Spans().Length;
        Rent(pool).Dispose();
        Assert.True(pool.TryRent(out ResourceLease<FakeResource> lease));
        lease.Dispose();
        Assert.Equal(before, Spans().Length);
    }

    [Fact]
    public async Task A_creation_lies_within_the_wait_that_it_is_for_and_the_wait_within_what_the_caller_does()
    {
        ResourcePool<FakeResource> pool = NewPool();
        TaskCompletionSource gate = Policy.CreateGate = FakePolicy.DirectGate();
        Activity? during = null;
        Policy.OnCreate = () => during = Activity.Current;
        Task<ResourceLease<FakeResource>> rental;
        using (Activity? request = Source.StartActivity("request"))
        {
            rental = Wait(pool);
            Assert.Same(request, Activity.Current);
        }

        Assert.Null(Activity.Current);
        FakePolicy.Open(gate);
        (await Soon(rental)).Dispose();

        Activity create = Span("tidepool.create");
        Activity wait = Span("tidepool.wait");
        Assert.Equal(Ended("request").SpanId, wait.ParentSpanId);
        Assert.Equal(wait.SpanId, create.ParentSpanId);
        Assert.Equal(Ended("request").TraceId, create.TraceId);
        Assert.Same(create, during);
        Assert.Equal((ActivityStatusCode.Unset, ActivityStatusCode.Unset), (wait.Status, create.Status));
        Assert.Equal(nameof(SpanTests), wait.GetTagItem("tidepool.pool.name"));
        Assert.Null(wait.GetTagItem("tidepool.pool.key"));
        Assert.Null(Activity.Current);
    }

    [Fact]
    public void A_parked_caller_creates_within_its_wait_and_has_its_own_activity_back()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(isInline: false));
        Activity? during = null;
        Policy.OnCreateHere = _ =>
        {
            during = Activity.Current;
            return Policy.Make();
        };
        using Activity? request = Source.StartActivity("request");
        pool.Rent().Dispose();
        Assert.Same(request, Activity.Current);
        request!.Stop();

        Assert.Equal(request.SpanId, Span("tidepool.wait").ParentSpanId);
        Assert.Equal(Span("tidepool.wait").SpanId, Span("tidepool.create").ParentSpanId);
        Assert.Same(Span("tidepool.create"), during);
    }

    [Fact]
    public async Task Serving_a_waiting_caller_leaves_the_activity_of_the_returner_alone()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<ResourceLease<FakeResource>> waiting;
        using (Source.StartActivity("renter"))
        {
            waiting = Wait(pool);
        }

        using (Activity? returner = Source.StartActivity("returner"))
        {
            lease.Dispose();
            Assert.Same(returner, Activity.Current);
        }

        (await Soon(waiting)).Dispose();
        Assert.Equal(Ended("renter").SpanId, Spans().Last(static span => span.OperationName == "tidepool.wait").ParentSpanId);
    }

    [Fact]
    public async Task A_failure_is_an_error_with_the_type_of_its_exception_and_without_its_message()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, waiters: 1));
        Policy.CreateError = new IOException("password=secret");
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Policy.CreateError = null;
        Time.Advance(1000);
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<ResourceLease<FakeResource>> late = Wait(pool, Second);
        await Assert.ThrowsAsync<ResourcePoolRejectedException>(async () => await pool.RentAsync());
        Time.Advance(1000);
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(late));
        using var cancelled = new CancellationTokenSource();
        Task<ResourceLease<FakeResource>> given = Wait(pool, cancellation: cancelled.Token);
        await cancelled.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Soon(given));
        lease.Dispose();

        string[] failures =
        [
            .. from span in Spans()
               where span.Status == ActivityStatusCode.Error
               select $"{span.OperationName} {span.GetTagItem("error.type")}",
        ];
        Assert.Equal(
            [
                "tidepool.create System.IO.IOException",
                "tidepool.wait Tidepool.ResourceCreateException",
                "tidepool.wait Tidepool.ResourcePoolRejectedException",
                "tidepool.wait Tidepool.ResourcePoolTimeoutException",
                "tidepool.wait System.OperationCanceledException",
            ],
            failures);
        Assert.All(Spans(), static span =>
        {
            Assert.Null(span.StatusDescription);
            Assert.Empty(span.Events);
            Assert.All(span.Tags, static tag => Assert.DoesNotContain("secret", tag.Value, StringComparison.Ordinal));
        });
    }

    [Theory]
    [InlineData(ResetMode.OnReturn)]
    [InlineData(ResetMode.Background)]
    [InlineData(ResetMode.OnRent)]
    public void A_reset_has_a_span_of_its_own(ResetMode mode)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(reset: mode));
        Rent(pool).Dispose();
        Rent(pool).Dispose();
        Activity[] resets = [.. Spans().Where(static span => span.OperationName == "tidepool.reset")];
        Assert.Equal(mode == ResetMode.OnRent ? 1 : 2, resets.Length);
        Assert.All(resets, static reset => Assert.Equal(ActivityStatusCode.Unset, reset.Status));
        Assert.Null(Activity.Current);
    }

    [Fact]
    public void A_reset_lies_within_the_return_and_says_whether_it_failed()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(reset: ResetMode.OnReturn));
        Policy.OnResetHere = static _ => null; // the policy has the asynchronous way only
        TaskCompletionSource gate = FakePolicy.DirectGate();
        Policy.OnReset = async (_, _) =>
        {
            await gate.Task.ConfigureAwait(false);
            return false;
        };
        ResourceLease<FakeResource> lease = Rent(pool);
        using (Activity? request = Source.StartActivity("request"))
        {
            lease.Dispose();
            Assert.Same(request, Activity.Current);
        }

        FakePolicy.Open(gate);
        Activity reset = Span("tidepool.reset");
        Assert.Equal(Ended("request").SpanId, reset.ParentSpanId);
        Assert.Equal("reset_failed", reset.GetTagItem("error.type"));

        Policy.OnResetHere = static _ => throw new TimeoutException();
        Rent(pool).Dispose();
        Assert.Equal("System.TimeoutException", Spans().Last(static s => s.OperationName == "tidepool.reset").GetTagItem("error.type"));
    }

    [Fact]
    public void A_reset_after_a_return_is_part_of_no_rental_that_its_resource_was_made_or_checked_for()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.Background, executor: Begin));
        for (int i = 0; i < 2; i++)
        {
            ResourceLease<FakeResource> lease;
            using (Source.StartActivity("request"))
            {
                lease = pool.Rent(Second);
            }

            _delayed = [];
            lease.Dispose(); // its reset is left to a thread
            BeginDelayed();
            Time.Advance(2000); // the next rental has it checked
        }

        Assert.Equal((1, 1), (Policy.Made.Count, Policy.Made.Single().Validations));
        Activity[] resets = [.. Spans().Where(static span => span.OperationName == "tidepool.reset")];
        Assert.Equal(2, resets.Length);
        Assert.All(resets, static reset => Assert.Equal(default, reset.ParentSpanId));
    }

    [Fact]
    public async Task A_resource_that_ends_before_its_check_has_begun_keeps_nothing_of_the_rental_that_it_was_for()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.OnRent, executor: Begin));
        ResourceLease<FakeResource> lease = Rent(pool);
        using var cancelled = new CancellationTokenSource();
        Task<ResourceLease<FakeResource>> waiting = Wait(pool, cancellation: cancelled.Token);
        _delayed = [];
        lease.Dispose();
        Assert.Equal(1, pool.GetStatistics().Checking);
        Task clear = pool.ClearAsync();
        await cancelled.CancelAsync();
        BeginDelayed();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Soon(waiting));
        await clear.WaitAsync(Eventually.Limit);
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.Cleared));
        pool.Validate();
    }

    [Fact]
    public async Task Spans_of_a_key_name_it()
    {
        await using var pools = new EventfulPools();
        await pools.RentEachAsync(["a", "b"]);
        IEnumerable<Activity> waits = _collected.Spans.Where(static span => span.OperationName == "tidepool.wait");
        Assert.Equal(["a", "b"], waits.Select(static span => span.GetTagItem("tidepool.pool.key")));
    }

    [Fact]
    public async Task A_listener_that_throws_disturbs_neither_rentals_nor_returns()
    {
        int calls = 0;
        using var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == "Tidepool",
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStarted = _ => Fail(),
            ActivityStopped = _ => Fail(),
        };
        ActivitySource.AddActivityListener(listener);
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.OnReturn));
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<ResourceLease<FakeResource>> waiting = Wait(pool);
        lease.Dispose();
        (await Soon(waiting)).Dispose();
        Assert.True(calls >= 4, $"{calls} calls");
        Assert.Null(Activity.Current);

        void Fail()
        {
            calls++;
            throw new InvalidOperationException("as asked");
        }
    }

    /// <summary>Begins detached work at once, unless it is delayed.</summary>
    private void Begin(IThreadPoolWorkItem item)
    {
        if (_delayed is null)
        {
            item.Execute();
        }
        else
        {
            _delayed.Enqueue(item);
        }
    }

    private void BeginDelayed()
    {
        Queue<IThreadPoolWorkItem> delayed = _delayed!;
        _delayed = null;
        while (delayed.TryDequeue(out IThreadPoolWorkItem? item))
        {
            item.Execute();
        }
    }

    private Activity[] Spans() =>
        [.. _collected.Spans.Where(static span => Equals(span.GetTagItem("tidepool.pool.name"), nameof(SpanTests)))];

    private Activity Span(string name) => Assert.Single(Spans(), span => span.OperationName == name);

    private Activity Ended(string name) => Assert.Single(_collected.Spans, span => span.OperationName == name);
}
