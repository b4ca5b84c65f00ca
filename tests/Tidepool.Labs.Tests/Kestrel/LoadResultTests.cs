namespace Tidepool.Labs.Tests.Kestrel;

/// <summary>What is read of h2load's report.</summary>
public sealed class LoadResultTests
{
    private const string AllGood =
        """
        starting benchmark...
        spawning thread #0: 2 total client(s). 20 total requests
        Application protocol: http/1.1
        progress: 100% done

        finished in 7.08ms, 2823.66 req/s, 320.56KB/s
        requests: 20 total, 20 started, 20 done, 20 succeeded, 0 failed, 0 errored, 0 timeout
        status codes: 20 2xx, 0 3xx, 0 4xx, 0 5xx
        traffic: 2.27KB (2325) total, 2.34KB (2400) headers (space savings 0.00%), 4.26KB (4360) data
                             min         max         mean         sd        +/- sd
        time for request:      185us      1.48ms       609us       331us    80.00%
        req/s           :    1449.14     1586.28     1517.71       96.97   100.00%

        """;

    [Fact]
    public void The_rate_is_that_of_all_connections_together()
    {
        LoadResult result = LoadResult.Parse(AllGood);

        Assert.Equal(new LoadResult(2823.66, 20, 20), result);
        Assert.Equal(2823.66, result.PerSecondOfAll());
    }

    [Fact]
    public void What_is_not_answered_with_200_to_299_has_failed()
    {
        LoadResult result = LoadResult.Parse(
            AllGood.Replace("20 2xx, 0 3xx, 0 4xx, 0 5xx", "13 2xx, 1 3xx, 2 4xx, 4 5xx", StringComparison.Ordinal));

        Assert.Equal(7, result.Failed);
        Assert.Equal("7 of 20 requests failed.", Assert.Throws<LabProcessException>(() => result.PerSecondOfAll()).Message);
    }

    /// <summary>h2load ends with code 0 where nothing listens.</summary>
    [Fact]
    public void A_server_that_is_not_there_fails_all()
    {
        const string report =
            """
            finished in 138us, 0.00 req/s, 0B/s
            requests: 5 total, 0 started, 0 done, 0 succeeded, 5 failed, 5 errored, 0 timeout
            status codes: 0 2xx, 0 3xx, 0 4xx, 0 5xx

            """;

        Assert.Equal(new LoadResult(0, 5, 0), LoadResult.Parse(report));
        Assert.Equal(5, LoadResult.Parse(report).Failed);
    }

    [Theory]
    [InlineData("")]
    [InlineData("h2load: unrecognized option '--h9'")]
    [InlineData("finished in 7.08ms, 2823.66 req/s, 320.56KB/s")]
    public void What_is_no_report_is_refused_and_shown(string output) => Assert.Contains(
        output, Assert.Throws<LabProcessException>(() => LoadResult.Parse(output)).Message, StringComparison.Ordinal);
}
