using Tidepool.Labs;
using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Data.Tests.Support;

/// <summary>
/// A test on a real PostgreSQL; skipped, with the line that installs it, where there is none. One that hangs fails, so that the others go
/// on.
/// </summary>
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Data.Tests")]
internal class PostgresFactAttribute : FactAttribute, ITraitAttribute
{
    /// <summary>Longer than any test takes, also on a busy machine; in milliseconds.</summary>
    public const int Patience = 10 * 60 * 1000;

    public PostgresFactAttribute() => (Skip, Timeout) = (PostgresCluster.Missing, Patience);
}

/// <inheritdoc cref="PostgresFactAttribute"/>
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Data.Tests")]
internal sealed class PostgresTheoryAttribute : TheoryAttribute, ITraitAttribute
{
    public PostgresTheoryAttribute() => (Skip, Timeout) = (PostgresCluster.Missing, PostgresFactAttribute.Patience);
}
