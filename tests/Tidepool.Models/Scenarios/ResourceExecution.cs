using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>Programs over one resource pool.</summary>
internal sealed class ResourceExecution(ResourceWorld world, IReadOnlyList<Action> threads) : Execution
{
    public override IReadOnlyList<Action> Threads => threads;

    public override void Check() => world.Check();

    public override void Abandon()
    {
    }

    public override string ToString() => world.ToString();
}
