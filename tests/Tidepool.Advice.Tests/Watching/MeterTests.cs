namespace Tidepool.Advice.Tests.Watching;

public sealed class MeterTests
{
    [Fact]
    public void A_comma_in_a_value_is_no_end_of_a_tag()
    {
        var tags = MeterTags.Parse("db.client.connection.pool.name=Host=a,b;Port=1,db.client.connection.state=idle");
        Assert.Equal("Host=a,b;Port=1", tags["db.client.connection.pool.name"]);
        Assert.Equal("idle", tags["db.client.connection.state"]);
        Assert.Empty(MeterTags.Parse(""));
    }

    [Theory]
    [InlineData(
        "System.Net.Http", "http.client.open_connections",
        "http.connection.state=idle,server.address=h,server.port=443,url.scheme=https", "HTTP https://h:443", "Idle")]
    [InlineData(
        "System.Net.Http", "http.client.open_connections",
        "http.connection.state=active,server.address=h,url.scheme=http", "HTTP http://h", "Used")]
    [InlineData(
        "Npgsql", "db.client.connection.count",
        "db.client.connection.pool.name=main,db.client.connection.state=used", "Npgsql main", "Used")]
    [InlineData("Npgsql", "db.client.connection.max", "db.client.connection.pool.name=main", "Npgsql main", "Max")]
    [InlineData("MySqlConnector", "db.client.connections.usage", "pool.name=p,state=idle", "MySqlConnector p", "Idle")]
    [InlineData(
        "Microsoft.AspNetCore.Server.Kestrel", "kestrel.queued_requests",
        "server.address=0.0.0.0,server.port=80", "Kestrel 0.0.0.0:80", "Waiting")]
    [InlineData("System.Runtime", "dotnet.thread_pool.queue.length", "", "thread pool", "Waiting")]
    public void A_measurement_has_its_row_and_column(string meter, string instrument, string tags, string row, string column) =>
        Assert.Equal(new MeterPlace(row, Enum.Parse<MeterColumn>(column)), MeterMap.PlaceOf(meter, instrument, MeterTags.Parse(tags)));

    [Fact]
    public void What_says_nothing_of_a_pool_has_no_place() =>
        Assert.Null(MeterMap.PlaceOf("System.Runtime", "dotnet.timer.count", MeterTags.Parse("")));
}
