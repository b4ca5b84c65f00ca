namespace Tidepool.Advice.Tests.Sampling;

public sealed class SamplingPlanTests
{
    [Theory]
    [InlineData(9_800, 1, 0.03)]
    [InlineData(50_000, 4, 0.03)]
    [InlineData(2_000, 0.2, 0.1)]
    public void What_sampling_may_cost_is_kept_to(double samples, double processors, double budget)
    {
        double slice = SamplingPlan.SliceSeconds(30, samples, processors, budget);
        double on = SamplingPlan.FirstSeconds + slice * (SamplingPlan.Slices - 1);
        double cost = on * samples * SamplingPlan.SampleSeconds + SamplingPlan.NamingSeconds;
        Assert.InRange(cost, 0.99 * 30 * processors * budget, 30 * processors * budget * 1.001);
        Assert.True(slice >= 0.05);
    }

    [Fact]
    public void A_quiet_process_is_sampled_most_of_the_time() =>
        Assert.InRange(SamplingPlan.SliceSeconds(30, 10, 1, 0.03), 4, 30 * 0.8 / SamplingPlan.Slices);

    [Fact]
    public void Even_a_busy_one_is_sampled_in_each_slice() => Assert.Equal(0.05, SamplingPlan.SliceSeconds(5, 1e6, 0.5, 0.001));
}
