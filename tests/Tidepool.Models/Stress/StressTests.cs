using Tidepool.Models.Pools;
using Tidepool.Models.Scheduling;
using Xunit.Abstractions;

namespace Tidepool.Models.Stress;

/// <summary>Real threads at full speed. Timing is never asserted; what is asserted holds at any speed.</summary>
public class StressTests(ITestOutputHelper output)
{
    private const int Threads = 6;
    private static readonly TimeSpan Short = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(5);

    private static readonly Dictionary<string, Func<BufferSource<int>, BufferPoolOptions<int>>> All = new()
    {
        ["default"] = static s => new() { Source = s },
        ["little kept"] = static s => new() { Source = s, Budget = 1_000_000 },
        ["secrets"] = static s => new() { Source = s, Secrets = true },
    };

    public static TheoryData<string> Options => new(All.Keys);

    [Theory]
    [MemberData(nameof(Options))]
    public void Buffers_that_wander_between_threads_have_one_renter_and_come_home(string options) => HandOver(options, Short);

    [Theory]
    [MemberData(nameof(Options))]
    public void Racing_returns_never_give_a_buffer_two_renters(string options) => RacingReturns(options, Short);

    [Theory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(Options))]
    public void Buffers_that_wander_between_threads_for_long_have_one_renter_and_come_home(string options) => HandOver(options, Long);

    [Theory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(Options))]
    public void Racing_returns_for_long_never_give_a_buffer_two_renters(string options) => RacingReturns(options, Long);

    private void HandOver(string options, TimeSpan duration)
    {
        output.WriteLine($"seed {Explorer.Seed}");
        var source = new CountingSource<int>();
        output.WriteLine(new HandOverStorm(Explorer.Seed, All[options](source), source, Threads).Run(Threads, duration));
    }

    private void RacingReturns(string options, TimeSpan duration)
    {
        output.WriteLine($"seed {Explorer.Seed}");
        var source = new CountingSource<int>();
        output.WriteLine(new RacingReturnStorm(Explorer.Seed, All[options](source), source).Run(Threads, duration));
    }
}
