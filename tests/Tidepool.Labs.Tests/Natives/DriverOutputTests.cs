namespace Tidepool.Labs.Tests.Natives;

/// <summary>What drivers and tools print is read exactly, or refused with the text.</summary>
public class DriverOutputTests
{
    [Fact]
    public void A_timing_is_divided_by_its_operations()
    {
        var sample = DriverTiming.Parse("ok 2000 100 1500 500").ToSample();

        Assert.Equal(20, sample.Nanoseconds);
        Assert.Equal(15, sample.Renting);
        Assert.Equal(5, sample.Returning);
        Assert.True(double.IsNaN(sample.Bytes));
    }

    [Fact]
    public void A_timing_without_phases_has_none()
    {
        var sample = DriverTiming.Parse("ok 2000 100 0 0").ToSample();

        Assert.Null(sample.Renting);
        Assert.Null(sample.Returning);
    }

    [Theory]
    [InlineData("ok 2000 100 0")]
    [InlineData("ok 2000 100 0 0 0")]
    [InlineData("ok 2000 zero 0 0")]
    [InlineData("ok 0 100 0 0")]
    [InlineData("ok 2000 0 0 0")]
    [InlineData("error the command is not known")]
    [InlineData("")]
    public void Anything_else_is_no_timing(string answer) =>
        Assert.Contains(answer, Assert.Throws<LabProcessException>(() => DriverTiming.Parse(answer)).Message, StringComparison.Ordinal);

    [Fact]
    public void Lines_of_a_name_and_a_number_are_read()
    {
        var numbers = NativeTool.Parse("peak_MiB 269.5\nfreed_MiB 2e2\n");

        Assert.Equal(269.5, numbers["peak_MiB"]);
        Assert.Equal(200, numbers["freed_MiB"]);
    }

    [Theory]
    [InlineData("")]
    [InlineData("peak_MiB\n")]
    [InlineData("peak_MiB much\n")]
    [InlineData("peak_MiB 1 2\n")]
    public void Anything_else_is_refused(string output) => Assert.Throws<LabProcessException>(() => NativeTool.Parse(output));

    [Fact]
    public void The_tuners_waste_is_read_in_percent_of_what_was_requested()
    {
        var waste = NativeTuner.Parse(
            """
            100 requests, 20000 bytes
                        classes     wasted bytes   of asked
            before           64             2000     10.00%
            after            64              500      2.50%
            waste_before=2000 waste_after=500

            """);

        Assert.Equal(10, waste["built_in_percent"]);
        Assert.Equal(2.5, waste["tuned_percent"]);
        Assert.Equal(25, waste[NativeTuner.Remaining]);
    }

    [Fact]
    public void A_tuner_that_says_something_else_is_refused() =>
        Assert.Throws<LabProcessException>(() => NativeTuner.Parse("the profile holds no requests"));
}
