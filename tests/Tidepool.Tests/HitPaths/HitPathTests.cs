using System.Runtime.InteropServices;
using Tidepool.Tests.Common;
using Tidepool.Tests.Support;
using Xunit.Abstractions;
using Xunit.Sdk;

namespace Tidepool.Tests.HitPaths;

/// <summary>
/// The code of each hit path does not grow: the tests count its instructions, calls and locked operations in what the JIT makes of it.
/// No clock shows a change of 5 % on a shared machine; this shows one instruction, on every machine.
/// </summary>
public sealed class HitPathTests(ITestOutputHelper output)
{
    [HitPathFact]
    public void No_hit_path_has_more_instructions_calls_or_locked_operations_than_its_limit()
    {
        Dictionary<string, JitListing> found = List();
        var over = new List<string>();
        foreach (HitPath path in HitPath.All)
        {
            JitListing sum = path.Methods.Aggregate(default(JitListing), (sum, method) => sum + found[method]);
            output.WriteLine($"{path.Name}: {sum}");
            if (sum.Instructions > Allowed(path.Limit.Instructions) || sum.Calls > path.Limit.Calls || sum.Locked > path.Limit.Locked)
            {
                over.Add($"{path.Name}: {sum}, the limit is {path.Limit}");
            }
        }

        Assert.True(over.Count == 0, $"Runtime {Environment.Version}. Hit paths have grown:\n{string.Join('\n', over)}");
    }

    /// <summary>Another runtime compiles a little differently: then the limits hold within a tenth.</summary>
    private static int Allowed(int instructions) =>
        Environment.Version == HitPath.Runtime ? instructions : instructions + (instructions / 10);

    private static Dictionary<string, JitListing> List()
    {
        string listing = Path.Combine(Path.GetTempPath(), $"tidepool-{Guid.NewGuid():N}.asm");
        try
        {
            string[] methods = [.. HitPath.All.SelectMany(path => path.Methods).Distinct()];
            (int code, _, string error) = Child.Run(Child.HitPaths, checks: null, identity: string.Empty, environment: new()
            {
                ["DOTNET_JitStdOutFile"] = listing,
                ["DOTNET_JitDisasm"] = string.Join(' ', methods.Select(PatternOf)),
                ["DOTNET_TieredPGO"] = "0", // what was called how often would decide what is inlined
                ["DOTNET_EnableHWIntrinsic"] = "0",
            });
            Assert.True(code == 0, error);
            Dictionary<string, JitListing> found = JitListing.Read(File.ReadAllText(listing));
            string[] missing = Array.FindAll(methods, method => !found.ContainsKey(method));
            Assert.True(
                missing.Length == 0, $"The JIT has not optimized {string.Join(", ", missing)}; it has {string.Join(", ", found.Keys)}.");
            return found;
        }
        finally
        {
            File.Delete(listing);
        }
    }

    /// <summary>The pattern of a method for <c>DOTNET_JitDisasm</c>, which sees the arguments of generic classes.</summary>
    private static string PatternOf(string method)
    {
        string[] parts = method.Split(':');
        return $"*{parts[0].Split('.')[^1].Split('`')[0]}*:{parts[1]}";
    }

    /// <summary>The limits are those of one system and processor.</summary>
    [TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Tests")]
    private sealed class HitPathFactAttribute : FactAttribute, ITraitAttribute
    {
        public HitPathFactAttribute() =>
            Skip = OperatingSystem.IsLinux() && RuntimeInformation.ProcessArchitecture == Architecture.X64
                ? null
                : "the limits are those of x64 Linux";
    }
}
