using System.Linq.Expressions;

namespace Tidepool.Labs.Tests.Measuring;

[Trait("Category", "Environment")]
public class WarmUpTests
{
    [Fact]
    public void A_slow_loop_sits_out_passes_while_others_are_still_compiled()
    {
        int slowRuns = 0;
        int compiledRuns = 0;
        using var slow = new SingleThreadLoop(_ =>
        {
            slowRuns++;
            Thread.Sleep(60);
        });
        using var restless = new SingleThreadLoop(_ =>
        {
            compiledRuns++;
            int number = compiledRuns;
            Assert.Equal(number, Expression.Lambda<Func<int>>(Expression.Constant(number)).Compile()()); // a new method each time
        });
        var told = new List<double>();

        WarmUp.Run([slow, restless], told.Add);

        Assert.InRange(compiledRuns, 30, int.MaxValue); // at least once in each pass, to the last one
        Assert.Equal(5, slowRuns); // passes 1, 2, 4, 8 and 16 of 30
        Assert.InRange(told.Count, 1, 5); // methods that report are not called often enough to be compiled again
        Assert.Equal(told.Order(), told);
    }

    [Fact]
    public void A_loop_that_compiles_nothing_is_run_in_several_passes_all_the_same()
    {
        int runs = 0;
        using var loop = new SingleThreadLoop(_ =>
        {
            runs++;
            Thread.Sleep(60);
        });

        WarmUp.Run([loop], _ => { });

        Assert.InRange(runs, 3, 5);
    }
}
