namespace Tidepool.Labs.Tests.Servers;

/// <summary>A fact about a real PostgreSQL server: skipped, with the line that installs it, where there is none.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class PostgresFactAttribute : FactAttribute
{
    public PostgresFactAttribute() => Skip = PostgresCluster.Missing;
}

/// <summary>A theory about it.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class PostgresTheoryAttribute : TheoryAttribute
{
    public PostgresTheoryAttribute() => Skip = PostgresCluster.Missing;
}
