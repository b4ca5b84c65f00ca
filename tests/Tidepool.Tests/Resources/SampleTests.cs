using Samples;

namespace Tidepool.Tests.Resources;

/// <summary>The sample of the docs, compiled into this assembly and run.</summary>
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
}
