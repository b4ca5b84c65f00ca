namespace Tidepool.Advice.Tests.Watching;

public sealed class WatchAccumulatorTests
{
    private readonly WatchAccumulator _accumulator = new();

    [Fact]
    public void Rates_are_growth_over_time_of_all_series_together()
    {
        AddRuntime("dotnet.gc.heap.total_allocated", "", 1000);
        AddRuntime("dotnet.process.cpu.time", "cpu.mode=user", 1);
        AddRuntime("dotnet.process.cpu.time", "cpu.mode=system", 1);
        _accumulator.EndMeters(10);
        Assert.Null(_accumulator.Take(1).AllocatedPerSecond);
        AddRuntime("dotnet.gc.heap.total_allocated", "", 5000);
        AddRuntime("dotnet.process.cpu.time", "cpu.mode=user", 2);
        AddRuntime("dotnet.process.cpu.time", "cpu.mode=system", 1.5);
        _accumulator.EndMeters(12);
        WatchFrame frame = _accumulator.Take(2);
        Assert.Equal(2000, frame.AllocatedPerSecond);
        Assert.Equal(0.75, frame.Processors);
    }

    [Fact]
    public void A_count_that_falls_has_no_rate()
    {
        var rate = new Rate();
        rate.Add(10, 1);
        rate.Add(4, 2);
        Assert.Null(rate.PerSecond);
        rate.Add(6, 4);
        Assert.Equal(1, rate.PerSecond);
        Assert.Equal(2, rate.Growth);
    }

    [Fact]
    public void Collections_and_pauses_are_those_of_the_interval()
    {
        _accumulator.AddCollection(0, "AllocSmall");
        _accumulator.AddCollection(0, "AllocSmall");
        _accumulator.AddCollection(2, "AllocLarge");
        _accumulator.AddPause(3);
        _accumulator.AddPause(5);
        WatchFrame frame = _accumulator.Take(2);
        Assert.Equal([new CollectionCount(0, "AllocSmall", 1), new CollectionCount(2, "AllocLarge", 0.5)], frame.Collections);
        Assert.Equal((4, 5), (frame.PauseMilliseconds, frame.LongestPauseMilliseconds));
        WatchFrame next = _accumulator.Take(3);
        Assert.Empty(next.Collections);
        Assert.Equal(0, next.PauseMilliseconds);
    }

    [Fact]
    public void The_hit_rate_is_that_of_the_rentals_since_the_last_answer()
    {
        Answer(new() { Name = "a", Rented = 100, Missed = 100, Seconds = 1 });
        Answer(new() { Name = "a", Rented = 200, Missed = 110, Seconds = 3 });
        PoolRow row = Assert.Single(_accumulator.Take(3).Pools);
        Assert.Equal(50, row.RentedPerSecond);
        Assert.Equal(0.9, row.HitRate!.Value, 9);
        Answer(new() { Name = "a", Rented = 200, Missed = 110, Seconds = 4 });
        Assert.Null(Assert.Single(_accumulator.Take(4).Pools).HitRate);
    }

    [Fact]
    public void A_pool_that_does_not_answer_is_gone_and_a_later_one_of_its_name_begins_anew()
    {
        Answer(new() { Name = "a", Rented = 100, Seconds = 1 });
        _accumulator.EndRound();
        Assert.Empty(_accumulator.Take(2).Pools);
        Answer(new() { Name = "a", Rented = 150, Seconds = 3 });
        Assert.Null(Assert.Single(_accumulator.Take(3).Pools).RentedPerSecond);
    }

    [Fact]
    public void What_a_pool_does_not_have_is_not_shown_as_a_number()
    {
        Answer(new() { Name = "a", Seconds = 1 });
        PoolRow row = Assert.Single(_accumulator.Take(1).Pools);
        Assert.Equal((null, null, null, null), (row.BytesIdle, row.Waiting, row.OldestMilliseconds, row.OldestSite));
        Assert.DoesNotContain("waiting", WatchJson.Line(_accumulator.Take(2)), StringComparison.Ordinal);
    }

    [Fact]
    public void Metered_pools_add_up_their_series_and_are_never_negative()
    {
        const string pool = "server.address=h,server.port=1,url.scheme=http";
        Add("System.Net.Http", "http.client.open_connections", $"http.connection.state=idle,network.peer.address=1,{pool}", 2);
        Add("System.Net.Http", "http.client.open_connections", $"http.connection.state=idle,network.peer.address=2,{pool}", 3);
        Add("System.Net.Http", "http.client.open_connections", $"http.connection.state=active,{pool}", -1);
        MeteredRow row = Assert.Single(_accumulator.Take(1).Metered);
        Assert.Equal(("HTTP http://h:1", 5, 0), (row.Name, row.Idle, row.Used));
    }

    private void Answer(PoolSample sample)
    {
        _accumulator.Add(sample);
        _accumulator.EndRound();
    }

    private void AddRuntime(string instrument, string tags, double value) => Add("System.Runtime", instrument, tags, value);

    private void Add(string meter, string instrument, string tags, double value) =>
        _accumulator.Add(new MeterValue(meter, instrument, tags, value));
}
