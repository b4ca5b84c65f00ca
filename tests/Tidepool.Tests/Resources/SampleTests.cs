using Samples;

namespace Tidepool.Tests.Resources;

/// <summary>The samples of the docs, compiled into this assembly and run.</summary>
[Trait("Category", "Environment")]
public sealed class SampleTests
{
    [Fact]
    public async Task The_client_of_a_small_server_shares_its_connections_and_survives_their_loss()
    {
        await using var console = new StringWriter { NewLine = "\n" };
        await PooledRedisClient.RunAsync(console);
        string[] lines = console.ToString().Split('\n');
        Assert.Matches("^100 callers, at most [1-4] connections$", lines[0]);
        Assert.Equal(
            [
                "key42 is 42",
                "after the server closed every connection, key7 is 7",
                "the pool found broken ones: True",
                "everything returned: True",
                "",
            ],
            lines[1..]);
    }

    [Fact]
    public async Task Callers_share_a_handler_for_each_endpoint_that_is_renewed_under_them()
    {
        await using var console = new StringWriter { NewLine = "\n" };
        await SharedHttpHandler.RunAsync(console);
        Assert.Equal(
            [
                "100 callers at once, 1 answer: first server",
                "the address changed, the handler has not: first server",
                "the lifetime is over: second server",
                "a request that began before ends well: first server",
                "everything returned: True",
                "",
            ],
            console.ToString().Split('\n'));
    }
}
