using System.Globalization;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Tidepool.Analyzers.Tests.Harness;
using Tidepool.Analyzers.Tests.Mutants;
using Xunit.Abstractions;

namespace Tidepool.Analyzers.Tests;

/// <summary>
/// How much misuse is found: methods in the shapes of real libraries, of which returns are deleted, doubled and moved by a program.
/// Each mutant must be reported by the rule that it breaks.
/// </summary>
public sealed class MutantTests(ITestOutputHelper output)
{
    private const double LeastRecall = 0.95;

    private static readonly Lazy<SeedMethod[]> LazySeeds = new(() => [.. SeedMethod.All()]);

    [Fact]
    public void Seeds_are_many_and_of_many_styles()
    {
        string[] styles = [.. LazySeeds.Value.Select(seed => seed.Style).Distinct()];
        output.WriteLine($"{LazySeeds.Value.Length} seeds, {styles.Length} styles: {string.Join(", ", styles)}");
        Assert.True(LazySeeds.Value.Length >= 30, $"{LazySeeds.Value.Length} seeds");
        Assert.True(styles.Length >= 8, $"{styles.Length} styles");
    }

    [Fact]
    public void No_rule_reports_a_seed() => Assert.Empty(
        LazySeeds.Value.SelectMany(seed => Analysis.Run(seed.Code, seed.File)).Select(Analysis.Describe));

    [Fact]
    public void Mutants_are_found_by_their_rules()
    {
        var results = (
            from mutant in LazySeeds.Value.SelectMany(Mutator.Mutate)
            let compilation = Analysis.Compile(mutant.Code)
            let doesCompile = compilation.GetDiagnostics().All(d => d.Severity < DiagnosticSeverity.Error)
            select (mutant, doesCompile, found: doesCompile ? Rules(compilation) : [])).ToArray();
        Print(results);

        var counted = results.Where(one => one.doesCompile && one.mutant.NotCounted is null).ToArray();
        foreach (var rule in counted.GroupBy(one => one.mutant.Rule))
        {
            AssertRecall(rule.Key, rule.Count(one => one.found.Contains(one.mutant.Rule)), rule.Count());
        }

        AssertRecall("all", counted.Count(one => one.found.Contains(one.mutant.Rule)), counted.Length);
    }

    private static HashSet<string> Rules(CSharpCompilation compilation) =>
        [.. Analysis.RunOnAny(compilation).Select(found => found.Id)];

    private static void AssertRecall(string rule, int found, int all) =>
        Assert.True(found >= LeastRecall * all, $"{rule}: {found} of {all} mutants are found");

    private void Print((Mutant mutant, bool doesCompile, HashSet<string> found)[] results)
    {
        output.WriteLine("rule     found  of  recall   not counted (found)");
        foreach (var rule in results.GroupBy(one => one.mutant.Rule).OrderBy(one => one.Key))
        {
            var counted = rule.Where(one => one.doesCompile && one.mutant.NotCounted is null).ToArray();
            var others = rule.Except(counted).ToArray();
            int hits = counted.Count(one => one.found.Contains(rule.Key));
            string recall = (100.0 * hits / Math.Max(1, counted.Length)).ToString("0.0", CultureInfo.InvariantCulture);
            int more = others.Count(one => one.found.Contains(rule.Key));
            output.WriteLine($"{rule.Key} {hits,6} {counted.Length,4} {recall,6} % {others.Length,6} ({more})");
        }

        output.WriteLine("\nNot counted:");
        foreach (var why in results.GroupBy(one => one.doesCompile ? one.mutant.NotCounted : "does not compile"))
        {
            output.WriteLine(why.Key is null ? "" : $"{why.Count(),4} {why.Key}");
        }

        output.WriteLine("\nMissed:");
        foreach ((Mutant mutant, bool doesCompile, HashSet<string> found) in results)
        {
            if (doesCompile && mutant.NotCounted is null && !found.Contains(mutant.Rule))
            {
                output.WriteLine($"{mutant.Rule} {mutant.Seed}: {mutant.Change}; found [{string.Join(' ', found)}]\n{mutant.Code}");
            }
        }
    }
}
