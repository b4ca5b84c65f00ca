namespace Tidepool.Labs.Tests.Kestrel;

/// <summary>Server and client have a core each.</summary>
public sealed class CorePairTests
{
    [Theory]
    [InlineData("0-1", 0, 1)]
    [InlineData("\t0-7", 0, 7)]
    [InlineData("2,5", 2, 5)]
    [InlineData("1-3,8-11", 1, 11)]
    public void They_are_the_first_and_the_last_of_those_that_are_allowed(string list, int server, int client) =>
        Assert.Equal(new CorePair(server, client), CorePair.Parse(list));

    [Theory]
    [InlineData("0")]
    [InlineData("7")]
    [InlineData("")]
    public void One_core_is_no_pair(string list) => Assert.Null(CorePair.Parse(list));

    [Fact]
    public void A_program_is_pinned_by_its_command()
    {
        var (program, arguments) = CorePair.Pin(3, "h2load", ["-n", "5"]);

        Assert.Equal("taskset -c 3 h2load -n 5", $"{program} {string.Join(' ', arguments)}");
    }
}
