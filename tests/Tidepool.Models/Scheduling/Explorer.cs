using System.Globalization;
using System.Text;
using Tidepool.Tests.Support;

namespace Tidepool.Models.Scheduling;

/// <summary>Runs a scenario under many schedules and stops at the first one that breaks an invariant.</summary>
public static class Explorer
{
    private const string Variable = "TIDEPOOL_TEST_SEED";

    /// <summary>
    /// The seed of this run: <c>TIDEPOOL_TEST_SEED</c> where it is set, so that the first schedule is the one that failed.
    /// </summary>
    public static int Seed { get; } = Environment.GetEnvironmentVariable(Variable) is { } given
        ? int.Parse(given, CultureInfo.InvariantCulture)
        : Random.Shared.Next();

    /// <summary>Random programs under random schedules.</summary>
    /// <returns>What went wrong and how to repeat it, or null.</returns>
    public static string? Explore(IScenario scenario, int schedules)
    {
        ArgumentNullException.ThrowIfNull(scenario);
        using var lockstep = new Lockstep(scenario.Threads);
        using var checker = new ParkedThread();
        for (int i = 0; i < schedules; i++)
        {
            int seed = unchecked(Seed + i);
            var random = new Random(seed);
            Execution execution = scenario.Start(random);
            if (RunOne(scenario, execution, lockstep, checker, NewStrategy(random, execution.Threads.Count)) is { } failure)
            {
                return $"Schedule {i + 1} of seed {Seed}: repeat it with {Variable}={seed}.\n{failure}";
            }
        }

        return null;
    }

    /// <summary>
    /// One program under every schedule with at most <paramref name="preemptions"/> preemptions, as far as the limit allows.
    /// </summary>
    /// <returns>What went wrong and how to repeat it, or null; and the number of schedules.</returns>
    public static (string? Failure, int Schedules) Search(IScenario scenario, int preemptions, int limit)
    {
        ArgumentNullException.ThrowIfNull(scenario);
        using var lockstep = new Lockstep(scenario.Threads);
        using var checker = new ParkedThread();
        var search = new BoundedSearch(preemptions);
        int schedules = 0;
        do
        {
            schedules++;
            Execution execution = scenario.Start(new Random(0));
            if (RunOne(scenario, execution, lockstep, checker, search) is { } failure)
            {
                return ($"Schedule {schedules} of the search with {preemptions} preemptions.\n{failure}", schedules);
            }
        }
        while (search.TryNext() && schedules < limit);
        return (null, schedules);
    }

    private static IStrategy NewStrategy(Random random, int threads) => random.Next(6) switch
    {
        0 => new RandomStrategy(random, 0.5),
        1 => new RandomStrategy(random, 0.1),
        2 => new RandomStrategy(random, 0.03),
        _ => new PriorityStrategy(random, threads, steps: 32 << random.Next(5), changes: random.Next(1, 5)),
    };

    private static string? RunOne(IScenario scenario, Execution execution, Lockstep lockstep, ParkedThread checker, IStrategy strategy)
    {
        Exception? failure;
        scenario.Attach(Lockstep.Point);
        try
        {
            failure = lockstep.Run(execution.Threads, strategy);
        }
        finally
        {
            scenario.Attach(null);
        }

        if (failure is null)
        {
            try
            {
                checker.Run(execution.Check); // a planted bug may make it run without end
                return null;
            }
            catch (Exception e)
            {
                failure = e;
            }
        }

        execution.Abandon();
        lockstep.Fail();
        var text = new StringBuilder();
        text.AppendLine(failure is ScheduleException ? failure.Message : failure.ToString());
        text.Append(execution).AppendLine();
        text.Append("The last points:").Append(lockstep.Describe());
        return text.ToString();
    }
}
