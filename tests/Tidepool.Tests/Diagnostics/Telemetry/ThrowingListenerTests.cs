using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics.Telemetry;

/// <summary>Listeners of spans that throw: rentals and returns go on, no resource is lost, and no activity is left behind.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class ThrowingListenerTests : ResourceTest
{
    [Theory]
    [InlineData(ResetMode.OnReturn, false, true)]
    [InlineData(ResetMode.OnReturn, false, false)]
    [InlineData(ResetMode.Background, false, false)]
    [InlineData(ResetMode.OnRent, false, false)]
    [InlineData(ResetMode.OnReturn, true, true)]
    [InlineData(ResetMode.OnReturn, true, false)]
    [InlineData(ResetMode.OnRent, true, false)]
    public async Task One_that_throws_when_the_current_activity_changes_disturbs_nothing(ResetMode reset, bool isSync, bool isAtStart)
    {
        int calls = 0;
        var started = new ConditionalWeakTable<Activity, object>();
        using ActivityListener listener = Listen();
        Activity.CurrentChanged += Fail;
        try
        {
            ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: reset, isInline: !isSync));
            Policy.OnCreateHere = _ => Policy.Make();
            for (int i = 0; i < 3; i++)
            {
                if (isSync)
                {
                    pool.Rent().Dispose();
                }
                else
                {
                    (await pool.RentAsync()).Dispose();
                }

                Eventually.True(() => pool.GetStatistics().Checking == 0, "the reset to end");
            }

            Assert.Equal((1L, 0L), (pool.GetStatistics().Created, pool.GetStatistics().Destroyed));
            Assert.True(calls >= 2, $"{calls} calls");
            Assert.Null(Activity.Current);
        }
        finally
        {
            Activity.CurrentChanged -= Fail;
        }

        void Fail(object? sender, ActivityChangedEventArgs change)
        {
            Activity? ours = change.Current ?? change.Previous;
            if (ours?.OperationName.StartsWith("tidepool.", StringComparison.Ordinal) == true && (isAtStart || !started.TryAdd(ours, "")))
            {
                Interlocked.Increment(ref calls);
                throw new InvalidOperationException("as asked");
            }
        }
    }

    [Fact]
    public void One_that_throws_at_the_end_of_a_span_leaves_no_ended_activity_behind()
    {
        using ActivityListener listener = Listen(static _ => throw new InvalidOperationException("as asked"));
        using var source = new ActivitySource(nameof(ThrowingListenerTests));
        using ActivityListener own = Listen(name: source.Name);
        ResourcePool<FakeResource> pool = NewPool(Options(isInline: false));
        Policy.OnCreateHere = _ => Policy.Make();
        using Activity? request = source.StartActivity("request");
        pool.Rent().Dispose();
        Assert.Same(request, Activity.Current);

        PoolSpan span = PoolSpan.Begin(PoolSpan.Reset, default);
        span.Enter();
        Assert.NotSame(request, Activity.Current);
        span.End();
        Assert.Same(request, Activity.Current);
    }

    [Fact]
    [Trait("Category", "Environment")]
    public void Those_that_throw_when_they_hear_of_the_source_or_of_an_instrument_cost_the_spans_and_nothing_else()
    {
        (int code, string output, string error) = Child.Run(Child.Listeners, checks: null);

        string[] lines = output.Split(Environment.NewLine, StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(("1 created, 2 rented, spans: False", ""), (lines[0], error));
        Assert.Equal(["0 instruments twice, 1 rented"], lines[1..]);
        Assert.Equal(0, code);
    }

    private static ActivityListener Listen(
        Action<Activity>? onStop = null, Action<Activity>? onStart = null, string name = "Tidepool")
    {
        var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == name,
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStarted = onStart,
            ActivityStopped = onStop,
        };
        ActivitySource.AddActivityListener(listener);
        return listener;
    }

    /// <summary>
    /// What the child does: its first rentals make the source of spans and the instruments, and listeners throw when they hear of them.
    /// </summary>
    internal static void RentFirst()
    {
        using var instruments = new MeterListener
        {
            InstrumentPublished = static (one, _) =>
            {
                if (one.Meter.Name == "Tidepool")
                {
                    throw new InvalidOperationException("as asked");
                }
            },
        };
        instruments.Start();
        using var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == "Tidepool" ? throw new InvalidOperationException("as asked") : false,
        };
        ActivitySource.AddActivityListener(listener);
        using var pool = new ResourcePool<object>(new ObjectPolicy(), new ResourcePoolOptions { MaxSize = 1, Name = "first" });
        pool.Rent().Dispose();
        pool.Rent().Dispose();
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Console.WriteLine($"{statistics.Created} created, {statistics.Rented} rented, spans: {PoolSpan.Source is not null}");
        PrintInstruments();
    }

    private static void PrintInstruments()
    {
        using BufferPool<byte> buffers = BufferPool<byte>.Create(new() { Name = "buffers" });
        using BufferLease<byte> lease = buffers.Rent(100);
        var names = new List<string>();
        long rented = 0;
        using var listener = new MeterListener
        {
            InstrumentPublished = (one, self) =>
            {
                if (one.Meter.Name == "Tidepool")
                {
                    names.Add(one.Name);
                    self.EnableMeasurementEvents(one);
                }
            },
        };
        listener.SetMeasurementEventCallback<long>((one, value, _, _) => rented += one.Name == "tidepool.rented" ? value : 0);
        listener.Start();
        listener.RecordObservableInstruments();
        Console.WriteLine($"{names.Count - names.Distinct().Count()} instruments twice, {rented} rented");
    }

    private sealed class ObjectPolicy : ResourcePolicy<object>
    {
        public override ValueTask<object> CreateAsync(CancellationToken cancellationToken) => new(new object());

        public override object Create(CancellationToken cancellationToken) => new();
    }
}
