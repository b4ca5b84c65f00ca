namespace Tidepool.Models.Scheduling;

/// <summary>A small concurrent program over the core, started afresh for each schedule.</summary>
public interface IScenario
{
    /// <summary>The largest number of threads of one execution.</summary>
    int Threads { get; }

    /// <summary>Connects the points of the core that this scenario was compiled with.</summary>
    void Attach(Action<string>? hook);

    /// <summary>Makes a new world and what its threads do.</summary>
    /// <param name="random">Where every choice of the program comes from.</param>
    Execution Start(Random random);
}
