using Tidepool.Models.Scenarios;
using Xunit.Abstractions;

namespace Tidepool.Models.Scheduling;

/// <summary>
/// Resource pools under random schedules; each invariant has the scenario that strains it most, and all of them are looked at in each.
/// </summary>
public class ResourceExplorationTests(ITestOutputHelper output)
{
    private const int Quick = 1_500;
    private const int Long = 6_000;

    public static TheoryData<string> Invariants =>
    [
        nameof(CapacityScenario), nameof(OneRenterScenario), nameof(ConservationScenario), nameof(GivingUpScenario), nameof(WakeUpScenario),
        nameof(FailureScenario), nameof(OrderScenario), nameof(OldCopyScenario), nameof(EndOnceScenario), nameof(ClearScenario),
        nameof(ClearedOnItsWayScenario), nameof(KeyedScenario), nameof(KeyedAloneScenario), nameof(ParkedScenario),
        nameof(ParkedAloneScenario), nameof(HangingScenario), nameof(SharedScenario), nameof(HotSlotScenario),
    ];

    [Theory]
    [MemberData(nameof(Invariants))]
    public void The_invariant_holds(string scenario) => Explore(scenario, Quick);

    [Theory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(Invariants))]
    public void The_invariant_holds_for_long(string scenario) => Explore(scenario, Long);

    private void Explore(string scenario, int schedules)
    {
        output.WriteLine($"seed {Explorer.Seed}");
        Type type = typeof(ResourceScenario).Assembly.GetType($"Tidepool.Models.Scenarios.{scenario}", throwOnError: true)!;
        var made = (IScenario)Activator.CreateInstance(type)!;
        string? failure = Explorer.Explore(made, schedules);
        Assert.True(failure is null, failure);
    }
}
