using System.Collections;
using Tidepool.Models.Scheduling;
using Xunit.Abstractions;

namespace Tidepool.Models.Building;

/// <summary>Bugs by name, each with the scenario whose schedules find it.</summary>
internal sealed class PlantedBugs : IEnumerable<Mutation>
{
    // The search ends at the first failure: for most bugs within some hundreds, but for some it has taken 46,000.
    private const int Schedules = 1_000_000;

    private readonly List<(string Scenario, string Name, Mutation Mutation)> _bugs = [];

    /// <summary>What a theory needs: scenario and name of each bug.</summary>
    internal TheoryData<string, string> Rows
    {
        get
        {
            var rows = new TheoryData<string, string>();
            _bugs.ForEach(b => rows.Add(b.Scenario, b.Name));
            return rows;
        }
    }

    /// <summary>Adds a bug.</summary>
    /// <param name="scenario">The type's name.</param>
    /// <param name="name">What is wrong, in at most 50 characters: the runner cuts longer ones off.</param>
    /// <param name="mutation">The change.</param>
    internal void Add(string scenario, string name, Mutation mutation) => _bugs.Add((scenario, name, mutation.Named(name)));

    internal Mutation Find(string scenario, string name) => _bugs.Single(b => b.Scenario == scenario && b.Name == name).Mutation;

    /// <summary>Plants a bug, and fails unless a schedule finds it.</summary>
    internal void Hunt(string scenario, string name, bool fine, ITestOutputHelper output)
    {
        Mutation bug = Find(scenario, name);
        string? failure = Explorer.Explore(ModelBuild.Compile(scenario, fine, bug), Schedules);
        Assert.True(failure is not null, $"{bug} was not found by {Schedules} schedules of {scenario} (seed {Explorer.Seed}).");
        output.WriteLine(failure);
    }

    public IEnumerator<Mutation> GetEnumerator() => _bugs.Select(static b => b.Mutation).GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
