using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;
using System.Text;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics;

/// <summary>No two live pools have one name, so that no two give measurements of one series.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class PoolNameTests : PoolTest
{
    private static readonly string[] AllKinds = ["buffers", "slabs", "pinned", "objects", "resources", "keys"];

    public static TheoryData<string> Kinds => [.. AllKinds];

    [Fact]
    public void What_two_pools_of_one_name_did_adds_up_as_a_collector_of_metrics_sees_it()
    {
        BufferPool<byte> first = NewPool<byte>(new() { Name = "same", Checks = PoolChecks.Default });
        BufferPool<byte> second = NewPool<byte>(new() { Name = "same", Checks = PoolChecks.Default });
        Repeat(11, () => first.Rent(10).Return());
        Repeat(3, () => second.Rent(10).Return());
        BufferLease<byte> lease = first.Rent(10);
        lease.Return();
        Assert.Throws<PoolMisuseException>(() => lease.Return());

        Dictionary<string, long> series = Aggregate();
        Assert.Equal((12L, 3L), (series["tidepool.rented tidepool.pool.name=same"], series["tidepool.rented tidepool.pool.name=same#2"]));
        Assert.Equal(1, series["tidepool.misuses tidepool.misuse.kind=double_return tidepool.pool.name=same"]);
        Assert.Equal(0, series["tidepool.misuses tidepool.misuse.kind=double_return tidepool.pool.name=same#2"]);
        Assert.Equal(0, series["tidepool.misuses tidepool.misuse.kind=never_returned tidepool.pool.name=same"]);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task The_smallest_free_number_is_used_again(string kind)
    {
        (string Name, Func<ValueTask> End)[] pools = [.. Enumerable.Range(0, 4).Select(_ => Make(kind, $"name of {kind}"))];
        string[] names = [.. pools.Select(p => p.Name)];
        Assert.Equal(["", "#2", "#3", "#4"], names.Select(n => n[$"name of {kind}".Length..]));
        await pools[2].End();
        await pools[1].End();
        await pools[1].End(); // a second end frees nothing of a later pool
        (string Name, Func<ValueTask> End) low = Make(kind, $"name of {kind}");
        (string Name, Func<ValueTask> End) high = Make(kind, $"name of {kind}");
        Assert.Equal([names[1], names[2]], [low.Name, high.Name]);
        await pools[0].End();
        (string Name, Func<ValueTask> End) bare = Make(kind, $"name of {kind}");
        Assert.Equal(names[0], bare.Name);
        foreach ((string _, Func<ValueTask> end) in (IEnumerable<(string, Func<ValueTask>)>)[pools[3], low, high, bare])
        {
            await end();
        }
    }

    [Fact]
    public async Task All_kinds_of_pools_share_one_registry()
    {
        (string Name, Func<ValueTask> End)[] pools = [.. AllKinds.Select(kind => Make(kind, "one registry"))];
        Assert.Equal(
            ["one registry", .. Enumerable.Range(2, pools.Length - 1).Select(i => $"one registry#{i}")],
            pools.Select(p => p.Name));
        foreach ((string _, Func<ValueTask> end) in pools)
        {
            await end();
        }
    }

    [Fact]
    public void A_number_that_a_user_chose_is_passed_over()
    {
        using BufferPool<byte> chosen = BufferPool<byte>.Create(new() { Name = "chosen#2" });
        using BufferPool<byte> first = BufferPool<byte>.Create(new() { Name = "chosen" });
        using (BufferPool<byte> second = BufferPool<byte>.Create(new() { Name = "chosen" }))
        {
            Assert.Equal("chosen#3", second.Name);
        }

        chosen.Dispose();
        using BufferPool<byte> third = BufferPool<byte>.Create(new() { Name = "chosen" });
        Assert.Equal("chosen#2", third.Name);
    }

    [Fact]
    public void Ten_thousand_pools_one_after_the_other_have_one_name()
    {
        HashSet<string> names = [];
        for (int i = 0; i < 10_000; i++)
        {
            using BufferPool<byte> named = BufferPool<byte>.Create(new() { Name = "one after the other" });
            using BufferPool<Guid> own = BufferPool<Guid>.Create();
            names.Add(named.Name);
            names.Add(own.Name);
        }

        Assert.Equal(2, names.Count);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void The_name_of_a_pool_that_was_dropped_comes_free(string kind)
    {
        string dropped = Drop(kind, "dropped pool");
        Eventually.TrueAfterCollections(
            () =>
            {
                (string name, Func<ValueTask> end) = Make(kind, "dropped pool");
                end().AsTask().GetAwaiter().GetResult();
                return name == dropped;
            },
            "the dropped pool's name");
    }

    [Fact]
    public void Ten_thousand_pools_that_were_dropped_have_as_many_names_as_lived_at_once()
    {
        const int batch = 600;
        HashSet<string> names = [];
        for (int made = 0; made < 10_000; made += batch)
        {
            Drop(batch, names);
            Eventually.TrueAfterCollections(() => Drop("buffers", "dropped often") == "dropped often", "the names of a batch");
        }

        // A few pools may outlive their batch, where a register or the stack still holds them.
        Assert.InRange(names.Count, batch, batch + (batch / 2));
        Eventually.TrueAfterCollections(
            () => !Aggregate().Keys.Any(static key => key.Contains("tidepool.pool.name=dropped often", StringComparison.Ordinal)),
            "the series of the dropped pools to end");
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_name_that_shows_nothing_is_refused(string kind)
    {
        foreach (string name in (string[])["", " \t"])
        {
            ArgumentException refused = Assert.Throws<ArgumentException>(() => Make(kind, name));
            Assert.Equal(kind is "slabs" or "pinned" ? "name" : "options", refused.ParamName);
            Assert.Contains($"'{name}'", refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void Pools_of_blocks_without_a_name_of_their_own_are_told_apart()
    {
        using SlabMemoryPool<byte> slabs = new(), more = new();
        using PinnedMemoryPool<byte> pinned = new(), further = new();
        Assert.Equal(4, new HashSet<string> { slabs.Name, more.Name, pinned.Name, further.Name }.Count);
        slabs.Rent().Dispose();
        Dictionary<string, long> series = Aggregate();
        Assert.Equal(1, series[$"tidepool.rented tidepool.pool.name={slabs.Name}"]);
        Assert.Equal(0, series[$"tidepool.rented tidepool.pool.name={more.Name}"]);
    }

    [Fact]
    public async Task A_pool_that_was_shut_down_gives_no_measurement_in_the_name_of_a_later_one()
    {
        var policy = new FakePolicy();
        var first = new ResourcePool<FakeResource>(policy, new() { Name = "shut down", MaxSize = 5 });
        await first.DisposeAsync();
        Assert.Equal(0, Aggregate()["tidepool.resource.max tidepool.pool.name=shut down"]);
        var second = new ResourcePool<FakeResource>(policy, new() { Name = "shut down", MaxSize = 7 });
        Assert.Equal(7, Aggregate()["tidepool.resource.max tidepool.pool.name=shut down"]);
        await second.DisposeAsync();
        GC.KeepAlive(first);
    }

    [Fact]
    public void A_long_key_is_cut_and_one_that_cannot_be_shown_is_said()
    {
        Assert.Equal("short", PoolName.KeyText("short"));
        string cut = PoolName.KeyText(new string('k', 10_000));
        Assert.Equal((128, true), (cut.Length, cut.EndsWith("kkk...", StringComparison.Ordinal)));
        Assert.Contains(nameof(NotSupportedException), PoolName.KeyText(new ShyKey()), StringComparison.Ordinal);
    }

    private static void Repeat(int times, Action action)
    {
        for (int i = 0; i < times; i++)
        {
            action();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static string Drop(string kind, string name) => Make(kind, name).Name;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(int pools, HashSet<string> names)
    {
        for (int i = 0; i < pools; i++)
        {
            names.Add(Drop(AllKinds[i % AllKinds.Length], "dropped often"));
        }
    }

    private static (string Name, Func<ValueTask> End) Make(string kind, string name)
    {
        switch (kind)
        {
            case "buffers":
                return Of(BufferPool<byte>.Create(new() { Name = name }), static p => p.Name);
            case "slabs":
                return Of(new SlabMemoryPool<byte>(name: name), static p => p.Name);
            case "pinned":
                return Of(new PinnedMemoryPool<byte>(name: name), static p => p.Name);
            case "objects":
                return Of(
                    ObjectPool<StringBuilder>.Create(static () => new StringBuilder(), null, new() { Name = name }),
                    static p => p.Name);
            case "resources":
                var resources = new ResourcePool<FakeResource>(new FakePolicy(), new() { Name = name, MaxSize = 1 });
                return (resources.Name, resources.DisposeAsync);
            default:
                var keys = new KeyedResourcePool<string, FakeResource>(
                    static key => new NoPolicy(key), new() { PerKey = new() { Name = name, MaxSize = 1 }, MaxTotal = 1 });
                return (keys.Name, keys.DisposeAsync);
        }

        static (string, Func<ValueTask>) Of<T>(T pool, Func<T, string> name)
            where T : IDisposable => (name(pool), () =>
            {
                pool.Dispose();
                return ValueTask.CompletedTask;
            });
    }

    /// <summary>Collects once, as a collector of metrics does: of measurements with the same tags the last one counts.</summary>
    private static Dictionary<string, long> Aggregate()
    {
        Dictionary<string, long> series = [];
        using MeterListener listener = new();
        listener.InstrumentPublished = static (instrument, l) =>
        {
            if (instrument.Meter.Name == "Tidepool")
            {
                l.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => series[Key(instrument, tags)] = value);
        listener.SetMeasurementEventCallback<int>((instrument, value, tags, _) => series[Key(instrument, tags)] = value);
        listener.Start();
        listener.RecordObservableInstruments();
        return series;
    }

    private static string Key(Instrument instrument, ReadOnlySpan<KeyValuePair<string, object?>> tags) =>
        string.Join(
            ' ',
            tags.ToArray().OrderBy(static t => t.Key, StringComparer.Ordinal)
                .Select(static t => $"{t.Key}={t.Value}").Prepend(instrument.Name));

    private sealed class ShyKey
    {
        public override string ToString() => throw new NotSupportedException();
    }

    private sealed class NoPolicy(string key) : ResourcePolicy<FakeResource>
    {
        public override ValueTask<FakeResource> CreateAsync(CancellationToken cancellationToken) => throw new IOException($"no {key}");
    }
}
