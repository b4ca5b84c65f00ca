using Tidepool.Labs;
using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Data.Tests.Support;

/// <summary>
/// A test on a real PgBouncer before a real PostgreSQL; skipped, with the line that installs it, where one of them is missing.
/// </summary>
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Data.Tests")]
internal sealed class PgBouncerFactAttribute : PostgresFactAttribute
{
    public PgBouncerFactAttribute() => Skip = PgBouncer.Missing;
}

/// <inheritdoc cref="PgBouncerFactAttribute"/>
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Data.Tests")]
internal sealed class PgBouncerTheoryAttribute : TheoryAttribute, ITraitAttribute
{
    public PgBouncerTheoryAttribute() => (Skip, Timeout) = (PgBouncer.Missing, PostgresFactAttribute.Patience);
}
