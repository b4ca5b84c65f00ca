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
    public void A_trap_must_be_told_to_save_no_time(string answer, bool expected)
    {
        Assert.Null(EstimatedSaving.Of(Parse("{}"), operationsPerSecond: 10));
        Assert.Equal(expected, new VerifiedSaving(1000, 1000, answer).ConfirmsNone(null));
    }

    [Theory]
    [InlineData("noDifference")]
    [InlineData("more")]
    public void A_trap_must_not_be_advised(string answer) => Assert.False(
        new VerifiedSaving(1000, 0, answer).ConfirmsNone(EstimatedSaving.Of(Parse(Estimate), operationsPerSecond: 10)));

    [Fact]
    public void A_program_that_was_not_advised_is_outside() => Assert.False(new VerifiedSaving(0, 0, "noDifference").IsWithin(null));

    [Theory]
    [InlineData("noDifference", 100, true)]
    [InlineData("notTold", 100, true)]
    [InlineData("noDifference", 111, false)]
    [InlineData("more", 100, false)]
    [InlineData("less", 100, false)]
    public void Where_no_time_can_be_told_the_runs_must_not_tell_any(string answer, double bytes, bool expected) => Assert.Equal(
        expected, new VerifiedSaving(bytes, 50, answer).IsWithin(new EstimatedSaving(new Estimated(90, 110), new Estimated(0, 0))));

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
    [InlineData("advise.savings", 10, 2, "PASS")]
    [InlineData("advise.savings", 10, 3, "FAIL")]
    [InlineData("advise.traps", 2, 0, "PASS")]
    [InlineData("advise.traps", 2, 1, "FAIL")]
    public void Two_of_ten_may_lie_outside_and_no_trap(string bar, int programs, int outside, string expected)
    {
        VerdictRule rule = RuleOf(bar);
        WorkloadKey[] keys = [.. rule.Needs];
        Assert.Equal(programs, keys.Length);
        var results = new LabResults(seed: 1);
        foreach (var (index, key) in keys.Index())
        {
            results.Add(key, new Dictionary<string, double> { [SavingProbe.Outside] = index < outside ? 1 : 0 });
        }

        Verdict verdict = rule.Judge(results);

        Assert.Equal(expected, verdict.StateText);
        string listed = string.Join(", ", keys.Take(outside).Select(static key => key.Cell["habit"]));
        Assert.Contains(listed, verdict.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("advise.savings")]
    [InlineData("advise.traps")]
    public void A_saving_that_was_not_measured_is_not_judged(string bar) =>
        Assert.Equal("NOT RUN", RuleOf(bar).Judge(new LabResults(1)).StateText);

    private static VerdictRule RuleOf(string bar) =>
        LabPlan.Of(LabCatalog.Find("advise")!, LabMode.Full).Rules.Single(rule => rule.Bar.Id == bar);

    private static JsonElement Parse(string json)
    {
        using JsonDocument document = JsonDocument.Parse(json);
        return document.RootElement.Clone();
    }
}
