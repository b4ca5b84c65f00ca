using Tidepool.Labs;
using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Data.Tests.Support;

/// <summary>
/// Tests on a real PostgreSQL; skipped, with the line that installs it, where there is none. One that hangs fails, so that the others go
/// on.
/// </summary>
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.EntityFrameworkCore.Tests")]
internal sealed class PostgresTheoryAttribute : TheoryAttribute, ITraitAttribute
{
    public PostgresTheoryAttribute() => (Skip, Timeout) = (PostgresCluster.Missing, 10 * 60 * 1000);
}

/// <inheritdoc cref="PostgresTheoryAttribute"/>
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.EntityFrameworkCore.Tests")]
internal sealed class PostgresFactAttribute : FactAttribute, ITraitAttribute
{
    public PostgresFactAttribute() => (Skip, Timeout) = (PostgresCluster.Missing, 10 * 60 * 1000);
}
