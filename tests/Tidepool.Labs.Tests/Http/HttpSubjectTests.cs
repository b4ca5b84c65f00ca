namespace Tidepool.Labs.Tests.Http;

/// <summary>The ways to send requests of lab <c>http</c> do what their rows say.</summary>
[Trait("Category", "Environment")]
public sealed class HttpSubjectTests
{
    public static TheoryData<string, int> ConnectionsOfTen => new()
    {
        { HttpSubject.PerRequest, 10 },
        { HttpSubject.Shared, 1 },
        { HttpSubject.Renewed, 1 },
        { HttpSubject.Factory, 1 },
        { HttpSubject.Leased, 1 },
    };

    [Theory]
    [MemberData(nameof(ConnectionsOfTen))]
    public async Task Ten_requests_use_as_many_connections_as_the_way_says(string way, int connections)
    {
        await using LoopbackServer server = await LoopbackServer.StartAsync("answer");
        await using HttpSubject subject = HttpSubject.Open(way, HttpSubject.NewHandler, TimeSpan.FromMinutes(2));

        for (int i = 0; i < 10; i++)
        {
            Assert.Equal("answer", await subject.GetAsync(server.Address));
        }

        Assert.Equal(connections, server.Connections);
    }

    [Fact]
    public async Task Disposing_the_leased_handlers_closes_their_connections()
    {
        await using LoopbackServer server = await LoopbackServer.StartAsync("answer");
        await using (HttpSubject subject = HttpSubject.Open(HttpSubject.Leased, HttpSubject.NewHandler, TimeSpan.FromMinutes(2)))
        {
            await subject.GetAsync(server.Address);
            Assert.Equal(1, server.Open);
        }

        Assert.True(SpinWait.SpinUntil(() => server.Open == 0, TimeSpan.FromMinutes(1)));
    }

    [Fact]
    public void A_way_that_is_none_is_refused() =>
        Assert.Throws<ArgumentException>("name", () => HttpSubject.Open("pigeon", HttpSubject.NewHandler, TimeSpan.FromMinutes(2)));
}
