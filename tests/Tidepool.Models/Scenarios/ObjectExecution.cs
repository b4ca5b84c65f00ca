using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>Programs in one world of objects.</summary>
internal sealed class ObjectExecution(ObjectWorld world, IReadOnlyList<Action> threads) : Execution
{
    public override IReadOnlyList<Action> Threads => threads;

    public override void Check() => world.Check();

    public override void Abandon() => world.Abandon();

    public override string ToString() => world.ToString();
}
