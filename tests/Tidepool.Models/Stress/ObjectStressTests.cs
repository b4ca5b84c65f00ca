using Tidepool.Models.Scheduling;
using Xunit.Abstractions;

namespace Tidepool.Models.Stress;

/// <summary>Object pools under real threads at full speed. Timing is never asserted; what is asserted holds at any speed.</summary>
public class ObjectStressTests(ITestOutputHelper output)
{
    private const int Threads = 5;

    private static readonly Dictionary<string, ObjectPoolOptions> All = new()
    {
        ["default"] = new(),
        ["little kept"] = new() { Budget = 20 },
        ["heavy"] = new() { ItemBytes = 128 << 10 },
        ["full checks"] = new() { Checks = PoolChecks.Full },
    };

    public static TheoryData<string> Options => new(All.Keys);

    [Theory]
    [MemberData(nameof(Options))]
    public void Objects_that_wander_between_threads_have_one_renter_and_one_end(string options) => Run(options, TimeSpan.FromSeconds(1));

    [Theory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(Options))]
    public void Objects_that_wander_for_long_have_one_renter_and_one_end(string options) => Run(options, TimeSpan.FromSeconds(5));

    private void Run(string options, TimeSpan duration)
    {
        output.WriteLine($"seed {Explorer.Seed}");
        output.WriteLine(new ObjectStorm(Explorer.Seed, All[options]).Run(Threads, duration));
    }
}
