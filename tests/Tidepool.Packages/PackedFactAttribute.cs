using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Packages;

/// <summary>A test that makes packages or uses them; skipped where they cannot be made.</summary>
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Packages")]
internal sealed class PackedFactAttribute : FactAttribute, ITraitAttribute
{
    private const int Patience = 20 * 60 * 1000; // the first one builds

    public PackedFactAttribute() => (Skip, Timeout) = (Clones.Missing, Patience);
}
