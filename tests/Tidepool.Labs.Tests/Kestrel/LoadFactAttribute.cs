using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Labs.Tests.Kestrel;

/// <summary>A fact that needs what lab <c>kestrel</c> needs: skipped, with the line that installs it, where it is not there.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class LoadFactAttribute : FactAttribute, ITraitAttribute
{
    public LoadFactAttribute() => Skip = LoadClient.Missing;
}

/// <summary>A theory of that kind.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class LoadTheoryAttribute : TheoryAttribute, ITraitAttribute
{
    public LoadTheoryAttribute() => Skip = LoadClient.Missing;
}
