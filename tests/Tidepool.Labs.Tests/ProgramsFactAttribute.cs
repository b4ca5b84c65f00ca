using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Labs.Tests;

/// <summary>A fact that runs programs of the machine: skipped, with the command that installs them, where one is missing.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class ProgramsFactAttribute : FactAttribute, ITraitAttribute
{
    /// <param name="packages">The packages of <c>eng/programs</c> that have them.</param>
    /// <param name="programs">The programs.</param>
    public ProgramsFactAttribute(string packages, params string[] programs)
    {
        string[] missing = [.. programs.Where(static program => !PreloadPrograms.IsOnPath(program))];
        if (missing.Length > 0)
        {
            Skip = $"Needs {string.Join(" and ", missing)}: apt-get install {packages}";
        }
    }
}
