using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Labs.Tests.Advising;

/// <summary>A fact that needs two cores, as lab <c>advise</c> does: skipped, with what is missing, where they are not there.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class CoresFactAttribute : FactAttribute, ITraitAttribute
{
    public CoresFactAttribute() => Skip = CorePair.Missing;
}
