using System.Reflection;

namespace Tidepool.Labs;

/// <summary>
/// One experiment: a question, the workloads that answer it, and the verdicts that judge the answer.
/// A class of this assembly that implements it joins the command line, the benchmarks and the docs by itself.
/// </summary>
internal interface ILab
{
    /// <summary>What the user types.</summary>
    string Name { get; }

    /// <summary>The question the lab answers.</summary>
    string Question { get; }

    /// <summary>The subject of ours that short tables show.</summary>
    string Headline { get; }

    /// <summary>
    /// The subjects that pool nothing, where the usual choice is a pool itself: whether a pool pays is decided beside them.
    /// </summary>
    IReadOnlyList<string> Without => [];

    /// <summary>Whether the quick tour has it. A lab that cannot be short runs by its name only.</summary>
    bool InTour => true;

    /// <summary>The published experiments that the lab repeats, and where their rows are in its grid.</summary>
    IReadOnlyList<ClassicMatch> Classics { get; }

    /// <summary>
    /// Adds workloads, probes and verdict rules. The parent process and every child make the same plan,
    /// so it must depend on nothing but the plan's mode and what the environment of all of them says.
    /// </summary>
    void Describe(LabPlan plan);
}

/// <summary>All labs of this assembly.</summary>
internal static class LabCatalog
{
    /// <summary>The labs in the order of their names.</summary>
    public static IReadOnlyList<ILab> All { get; } =
    [
        .. Assembly.GetExecutingAssembly().GetTypes()
            .Where(type => type is { IsAbstract: false, IsClass: true } && type.IsAssignableTo(typeof(ILab)))
            .Select(type => (ILab)Activator.CreateInstance(type)!)
            .OrderBy(lab => lab.Name, StringComparer.Ordinal),
    ];

    /// <summary>The labs of those names; of no name those of the quick tour.</summary>
    public static ILab[] Select(IReadOnlyCollection<string> names) =>
        [.. All.Where(lab => names.Count == 0 ? lab.InTour : names.Contains(lab.Name))];

    /// <summary>The lab of that name, or null.</summary>
    public static ILab? Find(string name) => All.FirstOrDefault(lab => lab.Name == name);
}
