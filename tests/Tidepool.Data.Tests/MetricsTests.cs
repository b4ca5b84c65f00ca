using System.Diagnostics.Metrics;
using OpenTelemetry;
using OpenTelemetry.Metrics;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>The names of OpenTelemetry's conventions, as its own SDK collects them.</summary>
public sealed class MetricsTests : IDisposable
{
    private const string Prefix = "db.client.connection.";

    private readonly SqliteFile _file = new();

    public void Dispose() => _file.Dispose();

    [Fact]
    public async Task Every_measurement_of_the_conventions_is_collected_and_counts_return_to_zero()
    {
        string name = $"metered {Guid.NewGuid()}";
        using var keeper = new Keeper(name);
        using var reader = new BaseExportingMetricReader(keeper);
        using MeterProvider provider = Sdk.CreateMeterProviderBuilder().AddMeter("Tidepool").AddReader(reader).Build();
        var pool = new PooledDbDataSource(
            Microsoft.Data.Sqlite.SqliteFactory.Instance, _file.ConnectionString, new PooledDbOptions
            {
                Pool = new()
                {
                    Name = name,
                    MinSize = 1,
                    MaxSize = 2,
                    RentTimeout = TimeSpan.Zero,
                },
            });
        await pool.WarmUpAsync(2);
        PooledDbConnection one = await pool.OpenConnectionAsync();
        Dictionary<string, double> now = Collect(reader, keeper);
        Assert.Equal(1, now["count used"]);
        Assert.Equal(1, now["count idle"]);
        Assert.Equal(2, now["max"]);
        Assert.Equal(2, now["idle.max"]);
        Assert.Equal(1, now["idle.min"]);
        Assert.Equal(0, now["pending_requests"]);
        PooledDbConnection two = await pool.OpenConnectionAsync();
        await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync());
        await one.DisposeAsync();
        await two.DisposeAsync();
        Sql.Until(
            () => Collect(reader, keeper).GetValueOrDefault("create_time") == 2,
            "both creations to be told, which happens after they served");
        now = Collect(reader, keeper);
        Assert.Equal(1, now["timeouts"]);
        Assert.Equal(2, now["use_time"]);
        Assert.True(await pool.ShutdownAsync(TimeSpan.FromSeconds(60)));
        now = Collect(reader, keeper);
        Assert.Equal(0, now["count used"] + now["count idle"] + now["max"] + now["idle.max"] + now["idle.min"] + now["pending_requests"]);
        await pool.DisposeAsync();
        Assert.Equal(
            ["count idle", "count used", "create_time", "idle.max", "idle.min", "max", "pending_requests", "timeouts", "use_time"],
            now.Keys.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task The_time_of_waiting_is_told_of_those_who_waited()
    {
        using var listener = new MeterListener();
        string name = $"metered {Guid.NewGuid()}";
        int waits = 0;
        string? unit = null;
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (instrument.Name == Prefix + "wait_time")
            {
                unit = instrument.Unit;
                l.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<double>((_, value, tags, _) =>
        {
            foreach (KeyValuePair<string, object?> tag in tags)
            {
                if (tag.Key == Prefix + "pool.name" && Equals(tag.Value, name) && value >= 0)
                {
                    Interlocked.Increment(ref waits);
                }
            }
        });
        listener.Start();
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { Name = name, MaxSize = 1 } });
        PooledDbConnection held = await pool.OpenConnectionAsync();
        ValueTask<PooledDbConnection> waiting = pool.OpenConnectionAsync();
        int before = Volatile.Read(ref waits);
        await held.DisposeAsync();
        await (await waiting).DisposeAsync();
        Assert.Equal("s", unit);
        Assert.Equal(before + 1, waits);
    }

    [Fact]
    public async Task Times_are_in_seconds_and_advise_bounds_for_seconds()
    {
        using var listener = new MeterListener();
        var advised = new Dictionary<string, (string? Unit, IReadOnlyList<double>? Bounds)>();
        listener.InstrumentPublished = (instrument, _) =>
        {
            if (instrument is Histogram<double> times && instrument.Name.Contains("_time", StringComparison.Ordinal)
                && instrument.Meter.Name == "Tidepool")
            {
                advised[instrument.Name] = (instrument.Unit, times.Advice?.HistogramBucketBoundaries);
            }
        };
        await using PooledDbDataSource connections = _file.NewPool();
        await using var resources = new ResourcePool<object>(new Things(), new ResourcePoolOptions { MaxSize = 1 });
        listener.Start();

        string[] measured = ["create_time", "wait_time", "use_time"];
        foreach (string name in measured.SelectMany(static name => new[] { Prefix + name, "tidepool.resource." + name }))
        {
            (string? unit, IReadOnlyList<double>? bounds) = advised[name];
            Assert.Equal("s", unit);
            Assert.Equal([0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10], bounds);
        }
    }

    private static Dictionary<string, double> Collect(BaseExportingMetricReader reader, Keeper keeper)
    {
        Assert.True(reader.Collect());
        return keeper.Values;
    }

    private sealed class Things : ResourcePolicy<object>
    {
        public override ValueTask<object> CreateAsync(CancellationToken cancellationToken) => new(new object());
    }

    /// <summary>Keeps what was collected last of one pool: sums, and how many times were told.</summary>
    private sealed class Keeper(string pool) : BaseExporter<Metric>
    {
        internal Dictionary<string, double> Values { get; private set; } = [];

        public override ExportResult Export(in Batch<Metric> batch)
        {
            Values = [];
            foreach (Metric metric in batch)
            {
                if (metric.Name.StartsWith(Prefix, StringComparison.Ordinal))
                {
                    foreach (ref readonly MetricPoint point in metric.GetMetricPoints())
                    {
                        Keep(metric, in point);
                    }
                }
            }

            return ExportResult.Success;
        }

        private void Keep(Metric metric, in MetricPoint point)
        {
            string key = metric.Name[Prefix.Length..];
            bool isOurs = false;
            foreach (KeyValuePair<string, object?> tag in point.Tags)
            {
                isOurs |= tag.Key == Prefix + "pool.name" && Equals(tag.Value, pool);
                key += tag.Key == Prefix + "state" ? $" {tag.Value}" : "";
            }

            if (isOurs)
            {
                Values[key] = metric.MetricType == MetricType.Histogram ? point.GetHistogramCount() : point.GetSumLong();
            }
        }
    }
}
