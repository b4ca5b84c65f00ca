using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics.Telemetry;

/// <summary>Metrics as OpenTelemetry's SDK collects them.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class MetricTests
{
    private const string Conventions = "db.client.connection.";

    [Fact]
    public async Task Each_series_names_its_pool_and_the_tag_of_the_conventions_is_on_their_instruments_only()
    {
        using var collected = new Collected();
        await using var pools = new EventfulPools();
        await pools.LiveAsync();

        List<Collected.Series> all = collected.Collect();
        Assert.Contains(all, static series => series.Name.StartsWith(Conventions, StringComparison.Ordinal));
        Assert.All(all, static series =>
        {
            bool isOfConventions = series.Name.StartsWith(Conventions, StringComparison.Ordinal);
            Assert.True(isOfConventions || series.Name.StartsWith("tidepool.", StringComparison.Ordinal), series.Name);
            Assert.Equal(isOfConventions, series.Tags.ContainsKey(Conventions + "pool.name"));
            Assert.Equal(!isOfConventions, series.Tags.ContainsKey("tidepool.pool.name"));
        });
    }

    [Fact]
    public async Task Times_fall_into_buckets_of_seconds()
    {
        using var collected = new Collected();
        await using var pools = new EventfulPools();
        await pools.LiveAsync();

        Collected.Series[] histograms = [.. collected.Collect().Where(static series => series.Kind == "histogram")];
        Assert.Equal(6, histograms.Select(static series => series.Name).Distinct().Count());
        Assert.All(histograms, static histogram =>
        {
            Assert.Equal("s", histogram.Unit);
            Assert.Equal([0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, double.PositiveInfinity], histogram.Bounds);
            Assert.True(histogram.Value > 0);
        });
    }

    [Fact]
    public void Misuse_is_counted_by_its_kind()
    {
        using var collected = new Collected();
        using var pool = BufferPool<byte>.Create(new() { Name = "misused in telemetry", Checks = PoolChecks.Default });
        BufferLease<byte> lease = pool.Rent(100);
        lease.Return();
        Assert.Throws<PoolMisuseException>(lease.Return);

        var misuses = collected.Collect()
            .Where(static series => series.Name == "tidepool.misuses" && series["tidepool.pool.name"] == "misused in telemetry")
            .ToDictionary(static series => series["tidepool.misuse.kind"]!, static series => series.Value);
        Assert.Equal(Enum.GetValues<MisuseKind>().Length, misuses.Count);
        Assert.Equal(1, misuses["double_return"]);
        Assert.Equal(1, misuses.Values.Sum());
    }

    [Fact]
    public async Task The_first_hundred_keys_have_series_of_their_own_and_all_others_share_one()
    {
        using var collected = new Collected();
        await using var pools = new EventfulPools();
        string[] keys = [.. Enumerable.Range(0, 150).Select(static number => $"key {number}")];
        await pools.RentEachAsync(keys);

        Dictionary<string, double> uses = ByKey(collected, "tidepool.resource.use_time");
        Assert.Equal(keys[..100].Append("other").Order(StringComparer.Ordinal), uses.Keys.Order(StringComparer.Ordinal));
        Assert.All(keys[..100], key => Assert.Equal(1, uses[key]));
        Assert.Equal(50, uses["other"]);
        Dictionary<string, double> idle = ByKey(collected, "tidepool.resource.count", "idle");
        Assert.Equal((101, 1, 50), (idle.Count, idle["key 99"], idle["other"]));

        // A collector keeps what it has seen: keys that are forgotten must fall to zero, and come back under their names.
        pools.ForgetKeys();
        idle = ByKey(collected, "tidepool.resource.count", "idle");
        Assert.Equal((101, 0), (idle.Count, idle.Values.Sum()));
        await pools.RentEachAsync(["key 120", "key 7", "new"]);
        idle = ByKey(collected, "tidepool.resource.count", "idle");
        Assert.Equal((101, 1, 2), (idle.Count, idle["key 7"], idle["other"]));
    }

    private static Dictionary<string, double> ByKey(Collected collected, string instrument, string? state = null) => collected.Collect()
        .Where(series => series.Name == instrument && series["tidepool.pool.name"] == "eventful keys")
        .Where(series => series["tidepool.resource.state"] == state)
        .ToDictionary(static series => series["tidepool.pool.key"]!, static series => series.Value);
}
