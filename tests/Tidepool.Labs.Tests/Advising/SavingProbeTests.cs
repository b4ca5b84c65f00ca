using System.Text.Json;

namespace Tidepool.Labs.Tests.Advising;

/// <summary>How an estimated saving is held against a verified one.</summary>
public sealed class SavingProbeTests
{
    private const string Estimate = """
        {"saving": {"bytesPerSecond": {"low": 900, "value": 1000, "high": 1100}, "processors": {"low": 1e-6, "value": 2e-6, "high": 3e-6}}}
        """;

    [Theory]
    [InlineData(100, 200, true)]
    [InlineData(90, 100, true)]
    [InlineData(89, 200, false)]
    [InlineData(111, 200, false)]
    [InlineData(100, 99, false)]
    [InlineData(100, 301, false)]
    public void Both_bytes_and_time_must_lie_within(double bytes, double nanoseconds, bool expected)
    {
        EstimatedSaving estimate = EstimatedSaving.Of(Parse(Estimate), operationsPerSecond: 10)!;

        Assert.Equal(expected, new VerifiedSaving(bytes, nanoseconds, "less").IsWithin(estimate));
    }

    [Theory]
    [InlineData("noDifference", true)]
    [InlineData("more", true)]
    [InlineData("less", false)]
    [InlineData("notTold", false)]
    public void Where_nothing_was_estimated_no_time_must_be_saved_and_that_must_be_told(string answer, bool expected)
    {
        Assert.Null(EstimatedSaving.Of(Parse("{}"), operationsPerSecond: 10));
        Assert.Equal(expected, new VerifiedSaving(1000, 1000, answer).IsWithin(null));
    }

    [Theory]
    [InlineData(-5, true)]
    [InlineData(3, true)]
    [InlineData(3.1, false)]
    public void An_estimate_from_nothing_on_says_at_most(double value, bool expected) =>
        Assert.Equal(expected, new Estimated(0, 3).Holds(value));

    [Fact]
    public void No_difference_is_not_within_an_estimate_of_a_saving() =>
        Assert.False(new VerifiedSaving(0, 0, "noDifference").IsWithin(EstimatedSaving.Of(Parse(Estimate), operationsPerSecond: 10)));

    [Fact]
    public void A_change_of_all_runs_is_a_saving_of_each_operation()
    {
        VerifiedSaving verified = VerifiedSaving.Of(
            Parse("""
                {"measures": [
                  {"name": "allocated", "change": {"low": -9, "value": -8000, "high": 9}, "answer": "less"},
                  {"name": "processor time", "change": {"low": -9, "value": -0.004, "high": 9}, "answer": "notTold"}]}
                """),
            operations: 1000);

        Assert.Equal(8, verified.Bytes, 9);
        Assert.Equal(4000, verified.Nanoseconds, 6);
        Assert.Equal("notTold", verified.TimeAnswer);
    }

    [Theory]
    [InlineData(2, "PASS")]
    [InlineData(3, "FAIL")]
    public void Two_of_ten_may_lie_outside(int outside, string expected)
    {
        LabPlan plan = LabPlan.Of(LabCatalog.Find("advise")!, LabMode.Full);
        var results = new LabResults(seed: 1);
        Probe[] probes = [.. plan.Probes.Where(static probe => probe.Key.Cell["habit"] is not null)];
        Assert.Equal(10, probes.Length);
        foreach (var (index, probe) in probes.Index())
        {
            results.Add(probe.Key, new Dictionary<string, double> { [SavingProbe.Outside] = index < outside ? 1 : 0 });
        }

        Verdict verdict = plan.Rules.Single(static rule => rule.Bar == Bars.AdviseSavings).Judge(results);

        Assert.Equal(expected, verdict.StateText);
        Assert.Contains("byte arrays, streams", verdict.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public void A_saving_that_was_not_measured_is_not_judged() => Assert.Equal(
        "NOT RUN",
        LabPlan.Of(LabCatalog.Find("advise")!, LabMode.Full).Rules.Single(static rule => rule.Bar == Bars.AdviseSavings)
            .Judge(new LabResults(1)).StateText);

    private static JsonElement Parse(string json)
    {
        using JsonDocument document = JsonDocument.Parse(json);
        return document.RootElement.Clone();
    }
}
