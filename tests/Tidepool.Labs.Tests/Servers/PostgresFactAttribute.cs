using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Labs.Tests.Servers;

/// <summary>A fact about a real PostgreSQL server: skipped, with the line that installs it, where there is none.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class PostgresFactAttribute : FactAttribute, ITraitAttribute
{
    public PostgresFactAttribute() => Skip = PostgresCluster.Missing;
}

/// <summary>A theory about it.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class PostgresTheoryAttribute : TheoryAttribute, ITraitAttribute
{
    public PostgresTheoryAttribute() => Skip = PostgresCluster.Missing;
}

/// <summary>A fact about a real MariaDB server: skipped, with the line that installs it, where there is none.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class MariaDbFactAttribute : FactAttribute, ITraitAttribute
{
    public MariaDbFactAttribute() => Skip = MariaDbServer.Missing;
}

/// <summary>A theory about it.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class MariaDbTheoryAttribute : TheoryAttribute, ITraitAttribute
{
    public MariaDbTheoryAttribute() => Skip = MariaDbServer.Missing;
}

/// <summary>A fact about both servers.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class DatabasesFactAttribute : FactAttribute, ITraitAttribute
{
    public DatabasesFactAttribute() => Skip = PostgresCluster.Missing ?? MariaDbServer.Missing;
}
