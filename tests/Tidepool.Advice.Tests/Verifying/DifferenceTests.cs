using MathNet.Numerics.Distributions;
using Xunit.Abstractions;

namespace Tidepool.Advice.Tests.Verifying;

public sealed class DifferenceTests(ITestOutputHelper output)
{
    private const int Runs = Verifier.FewestRuns;
    private const int Experiments = 300;

    [Fact]
    public void A_large_saving_is_less_and_the_other_way_round_more()
    {
        double[] high = Noisy(100, 0.03, 1);
        double[] low = Noisy(80, 0.03, 2);
        Difference saved = Difference.Of(high, low);
        Assert.Equal(VerifyAnswer.Less, saved.Answer);
        Assert.InRange(saved.Ratio!.Value.Value, 0.77, 0.83);
        Assert.InRange(saved.Change.Value, -23, -17);
        Assert.Equal(VerifyAnswer.More, Difference.Of(low, high).Answer);
    }

    [Fact]
    public void Equal_runs_are_no_difference_and_noisy_ones_do_not_tell()
    {
        Assert.Equal(VerifyAnswer.NoDifference, Difference.Of(Noisy(100, 0.005, 1), Noisy(100, 0.005, 2)).Answer);
        Assert.Equal(VerifyAnswer.NotTold, Difference.Of(Noisy(100, 0.3, 1), Noisy(100, 0.3, 2)).Answer);
        double[] same = [.. Enumerable.Repeat(5.0, Runs)];
        Difference exact = Difference.Of(same, same);
        Assert.Equal((VerifyAnswer.NoDifference, 0.0, 0.0), (exact.Answer, exact.Change.Low, exact.Change.High));
    }

    [Fact]
    public void A_difference_that_is_certain_and_tiny_is_none() =>
        Assert.Equal(VerifyAnswer.NoDifference, Difference.Of(Noisy(100, 1e-6, 1), Noisy(101, 1e-6, 2)).Answer);

    [Fact]
    public void Nothing_before_has_no_ratio()
    {
        double[] none = new double[Runs];
        double[] some = [.. Enumerable.Repeat(3.0, Runs)];
        Difference difference = Difference.Of(none, some);
        Assert.Null(difference.Ratio);
        Assert.Equal((VerifyAnswer.More, 3.0), (difference.Answer, difference.Change.Value));
        Assert.Equal(VerifyAnswer.NoDifference, Difference.Of(none, none).Answer);
        Assert.Equal(0, Difference.Of(some, none).Ratio!.Value.Value);
    }

    [Fact]
    public void What_drifts_with_time_is_in_both_of_a_pair()
    {
        // Each run takes one percent more than the one before it: neighbours differ by that alone, the first and the last by a fifth.
        double[] times = [.. Enumerable.Range(0, 2 * Runs).Select(static run => 100.0 + run)];
        double[] before = [.. times.Where(static (_, run) => !Verifier.IsAfter(run))];
        double[] after = [.. times.Where(static (_, run) => Verifier.IsAfter(run))];
        Assert.Equal(before.Average(), after.Average(), 1e-9);
        Assert.Equal(VerifyAnswer.NoDifference, Difference.Of(before, after).Answer);
    }

    [Theory]
    [InlineData(0.05)]
    [InlineData(0.2)]
    public void Intervals_hold_the_truth_as_often_as_they_say(double noise)
    {
        int held = 0;
        int wrong = 0;
        for (int i = 0; i < Experiments; i++)
        {
            Difference difference = Difference.Of(Noisy(100, noise, 2 * i), Noisy(90, noise, 2 * i + 1));
            held += difference.Change.Low <= -10 && difference.Change.High >= -10 ? 1 : 0;
            Difference none = Difference.Of(Noisy(100, noise, 2 * i), Noisy(100, noise, 100_000 + i));
            wrong += none.Answer is VerifyAnswer.Less or VerifyAnswer.More ? 1 : 0;
        }

        output.WriteLine($"noise {noise:P0}: {held} of {Experiments} intervals hold the truth, {wrong} see a difference that is none");
        Assert.InRange(held, 0.97 * Experiments, Experiments);
        Assert.InRange(wrong, 0, 0.03 * Experiments);
    }

    /// <summary>Runs that scatter as times do: by a factor.</summary>
    private static double[] Noisy(double mean, double noise, int seed)
    {
        var random = new Random(seed);
        return [.. Enumerable.Range(0, Runs).Select(_ => mean * LogNormal.Sample(random, -noise * noise / 2, noise))];
    }
}
