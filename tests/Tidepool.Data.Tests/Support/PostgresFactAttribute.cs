using Tidepool.Labs;

namespace Tidepool.Data.Tests.Support;

/// <summary>A test on a real PostgreSQL; skipped, with the line that installs it, where there is none.</summary>
internal sealed class PostgresFactAttribute : FactAttribute
{
    public PostgresFactAttribute() => Skip = PostgresCluster.Missing;
}

/// <inheritdoc cref="PostgresFactAttribute"/>
internal sealed class PostgresTheoryAttribute : TheoryAttribute
{
    public PostgresTheoryAttribute() => Skip = PostgresCluster.Missing;
}
