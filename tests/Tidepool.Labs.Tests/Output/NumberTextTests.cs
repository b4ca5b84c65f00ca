namespace Tidepool.Labs.Tests.Output;

public class NumberTextTests
{
    [Theory]
    [InlineData("still_rented_B", 2048, "still rented", "2.00 KiB")]
    [InlineData("held_MiB", 2, "held", "2.00 MiB")]
    [InlineData("user_ns", 1500, "user", "1.50 µs")]
    [InlineData("saved_ns", -443622681, "saved", "-444 ms")]
    [InlineData("waste_percent", 8.16, "waste", "8.16 %")]
    [InlineData("p99.9_of_p50", 1.02, "p99.9 of p50", "1.02")]
    [InlineData("bytes_per_key", 0, "bytes per key", "0")]
    [InlineData("errors_beyond_leases", 3, "errors beyond leases", "3.00")]
    [InlineData("milliseconds", 546, "milliseconds", "546")]
    public void A_metric_is_shown_in_the_unit_at_the_end_of_its_name_and_headed_by_the_rest(
        string name, double value, string heading, string text)
    {
        Assert.Equal(heading, NumberText.MetricName(name));
        Assert.Equal(text, NumberText.Metric(name, value));
    }
}
