namespace Tidepool.Labs.Tests.Verdicts;

public class BarsTests
{
    /// <summary>The rows of the design's table of bars, with the ids that judge each.</summary>
    public static TheoryData<string, string[]> DesignRows => new()
    {
        { "raw arrays, depth 1", ["arrays.raw.inlined", "arrays.raw.callsite"] },
        { "lease, depth 1", ["arrays.lease.inlined", "arrays.lease.callsite", "arrays.lease.bytes"] },
        { "scope", ["arrays.scope.own", "arrays.scope.inlined", "arrays.scope.callsite", "arrays.scope.lease"] },
        { "thread handle", ["arrays.handle"] },
        { "depth 8, one thread", ["arrays.depth8.inlined", "arrays.depth8.callsite", "arrays.depth8.own"] },
        { "two threads", ["arrays.threads.depth8", "arrays.threads.scaling", "arrays.threads.own", "arrays.threads.crowd"] },
        { "producer/consumer", ["arrays.ring.shared", "arrays.ring.lease", "arrays.ring.raw", "arrays.pingpong"] },
        { "async hop", ["arrays.hop"] },
        {
            "memory pools",
            [
                "memory.reused.kestrel", "memory.reused.inlined", "memory.reused.callsite", "memory.reused.depth8", "memory.reused.bytes",
                "memory.reused.hold", "memory.native.bytes", "memory.native.hold",
            ]
        },
        { "object arrays", ["arrays.objects"] },
        { "every length", ["arrays.grid", "arrays.grid.empty", "arrays.grid.large", "arrays.empty"] },
        { "waste", ["arrays.waste"] },
        { "full checks", ["arrays.checks.full"] },
        { "beyond the budget", ["arrays.overflow"] },
        {
            "idle",
            [
                "memory.idle.held", "memory.idle.alive", "memory.trim.held", "memory.trim.alive", "memory.idle.collected",
                "memory.epoch.time", "memory.epoch.gate",
            ]
        },
        {
            "streams, 100 B and 1 KB",
            [
                "streams.small.time", "streams.small.new", "streams.small.rented", "streams.small.recyclable", "streams.small.slim",
            ]
        },
        { "streams, 6-byte writes", ["streams.tiny.time", "streams.tiny.recyclable", "streams.tiny.slim"] },
        { "streams, 50 KB", ["streams.medium.once", "streams.medium.parts", "streams.medium.recyclable"] },
        {
            "streams, 1 to 200 MB",
            [
                "streams.large.time", "streams.large.bytes", "streams.large.bytes.long", "streams.large.rented", "streams.large.loh",
                "streams.large.recyclable", "streams.large.slim",
            ]
        },
        { "streams, WriteByte", ["streams.byte.exact", "streams.byte.base"] },
        { "streams, known length", ["streams.known.small", "streams.known.large"] },
        { "streams, CopyTo", ["streams.copy"] },
        { "streams, parallel", ["streams.parallel"] },
        { "streams, like MemoryStream", ["streams.compared"] },
        { "pdf", ["pdf.same", "pdf.reversed", "pdf.loh", "pdf.gen2"] },
        { "resources, one caller", ["resources.one.sync", "resources.one.async", "resources.two.async", "resources.one.bytes"] },
        {
            "resources, many callers",
            [
                "resources.many.64", "resources.many.64.alike", "resources.many.1000", "resources.many.1000.alike", "resources.fair",
            ]
        },
        { "resources, sync callers", ["resources.sync.time", "resources.sync.threads"] },
        { "resources, 5 ms work", ["resources.work"] },
        { "resources, cold burst", ["resources.burst"] },
        { "resources, server killed", ["resources.killed"] },
        { "resources, keyed", ["resources.keyed.hot", "resources.keyed.bytes"] },
        { "kestrel, requests", ["kestrel.http1.time", "kestrel.http2.time", "kestrel.tls.time", "kestrel.bytes"] },
        { "kestrel, memory", ["kestrel.idle", "kestrel.leased", "kestrel.failed"] },
        { "http, sockets", ["http.shared.sockets", "http.each.sockets", "http.ours.sockets"] },
        { "http, change of address", ["http.ours.follows"] },
        { "http, ports", ["http.ours.ports", "http.each.ports"] },
        { "threads, 10,000 empty items", ["threads.pooled"] },
        { "threads, async delay", ["threads.async"] },
        { "threads, distinct", ["threads.distinct"] },
        {
            "connections, five inserts, SQLite",
            [
                "connections.sqlite.used", "connections.sqlite.kept", "connections.sqlite.cleared", "connections.sqlite.ended",
                "connections.sqlite.unpooled.used", "connections.sqlite.unpooled.kept",
            ]
        },
        {
            "connections, five inserts, PostgreSQL",
            [
                "connections.postgres.used", "connections.postgres.kept", "connections.postgres.cleared", "connections.postgres.ended",
                "connections.postgres.unpooled.used", "connections.postgres.unpooled.kept",
            ]
        },
        { "connections, opening", ["connections.open"] },
        {
            "connections, PostgreSQL",
            [
                "connections.latency", "connections.latency.alike", "connections.many.reset", "connections.many.reset.alike",
                "connections.many.plain", "connections.unpooled",
            ]
        },
        { "connections, sessions ended", ["connections.killed"] },
        { "connections, faults", ["connections.faults.failed", "connections.faults.served"] },
        { "connections, recovery", ["connections.recovery.late", "connections.recovery.failed", "connections.recovery.tries"] },
        { "connections, MariaDB", ["connections.mysql.failed"] },
        { "fleet, together", ["fleet.transaction", "fleet.session"] },
        { "fleet, asking", ["fleet.latency", "fleet.latency.alike"] },
        { "advise, the program", ["advise.overhead", "advise.watch"] },
        { "advise, the saving", ["advise.savings", "advise.traps"] },
        { "advise, the tool", ["advise.answer", "advise.memory"] },
        { "ef", ["ef.backends", "ef.insert", "ef.insert.alike", "ef.select", "ef.select.alike", "ef.unpooled"] },
        {
            "malloc groups",
            [
                "native.pair.small", "native.pair.large", "native.pair.cores", "native.pair.threads",
                "native.bulk.small", "native.bulk.large", "native.bulk.cores", "native.bulk.threads",
                "native.stress.one", "native.stress.cores", "native.stress.threads", "native.mixed.one",
                "native.mixed.cores", "native.mixed.threads", "native.ring", "native.overall",
            ]
        },
        { "pair", ["native.pair.shared", "native.pair.inline"] },
        { "pool<T>", ["native.pool.boost", "native.pool.singleton", "native.pool.singleton.threads", "native.pool.remote"] },
        { "pmr resource", ["native.pmr.synchronized", "native.pmr.synchronized.threads", "native.pmr.unsynchronized"] },
        { "std::vector", ["native.vector.mean", "native.vector.cell", "native.vector.zeroed"] },
        { "growing a block", ["native.growth"] },
        { "idle memory", ["native.idle.resident", "native.idle.paused"] },
        { "peak memory", ["native.peak"] },
        { "start-up memory", ["native.start"] },
        { "resident memory", ["native.rounding.small", "native.rounding", "native.thread", "native.limited"] },
        { "instructions", ["native.count.malloc", "native.count.free", "native.count.malloc.branches", "native.count.free.branches"] },
        {
            "programs",
            [
                "native.program.python", "native.program.sqlite", "native.program.redis", "native.program.git",
                "native.program.compiler", "native.programs.correct",
            ]
        },
        { "tuner", ["native.tuner"] },
        { "object pool, one thread", ["objects.depth1", "objects.lease", "objects.depth8", "objects.bytes"] },
        { "object pool, two threads", ["objects.threads", "objects.threads.scaling", "objects.threads.crowd", "objects.deep"] },
        { "object pool, drain and refill", ["objects.drain", "objects.drain.lease", "objects.drain.linear"] },
        { ".NET", ["native.net.lease", "native.net.alloc.small", "native.net.alloc.large", "native.net.aligned"] },
    };

    [Theory]
    [MemberData(nameof(DesignRows))]
    public void Every_row_of_the_design_has_its_ids(string row, string[] ids) =>
        Assert.Equal(ids.Order(), Bars.All.Where(bar => bar.Row == row).Select(bar => bar.Id).Order());

    [Fact]
    public void No_bar_is_without_a_row() =>
        Assert.Equal(DesignRows.Select(row => (string)((object[])row)[0]).Order(), Bars.All.Select(bar => bar.Row).Distinct().Order());

    [Theory]
    [InlineData("Quick")]
    [InlineData("Full")]
    public void Every_bar_is_judged_by_exactly_one_verdict(string mode) =>
        Assert.Equal(
            Bars.All.Select(bar => bar.Id).Order(),
            LabCatalog.All.SelectMany(lab => LabPlan.Of(lab, Enum.Parse<LabMode>(mode)).Rules).Select(rule => rule.Bar.Id).Order());

    [Fact]
    public void Every_bar_that_is_declared_is_listed()
    {
        var declared = typeof(Bars).GetFields().SelectMany(
            static field => field.GetValue(null) is SessionBars several ? several.All : [(Bar)field.GetValue(null)!]);

        Assert.Equal(declared.Select(static bar => bar.Id).Order(), Bars.All.Select(bar => bar.Id).Order());
    }

    [Fact]
    public void Ids_are_unique() => Assert.Equal(Bars.All.Count, Bars.All.Select(bar => bar.Id).Distinct().Count());

    [Fact]
    public void A_ratio_has_a_limit_nearer_than_five_percent_to_parity_only_with_a_narrow_interval() =>
        Assert.All(
            Bars.All.Where(bar => bar.Kind == BarKind.Ratio),
            bar => Assert.True(Math.Abs(bar.Limit - 1) > 0.0499 || bar.Width <= 0.04, bar.Id));
}
