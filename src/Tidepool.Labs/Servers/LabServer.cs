namespace Tidepool.Labs;

/// <summary>
/// The PostgreSQL server of a run with <c>--postgres</c>, one for all labs. Its address travels to the measuring processes in their
/// environment.
/// </summary>
internal static class LabServer
{
    /// <summary>Sessions that the measuring processes of a full run may have at a time.</summary>
    private const int MaxConnections = 1000;

    private const string Variable = "TIDEPOOL_LAB_POSTGRES";

    /// <summary>Where it is, for Npgsql; null in a run without.</summary>
    public static string? ConnectionString => Environment.GetEnvironmentVariable(Variable);

    /// <summary>What the rows that need it say where it is not there.</summary>
    public static string Missing => PostgresCluster.Missing is { } missing ? $"{missing} Then run with --postgres" : "run with --postgres";

    /// <summary>Starts a server for this process and those that it starts; null where none can run.</summary>
    /// <exception cref="LabServerException">It did not start.</exception>
    public static async Task<PostgresCluster?> StartAsync(CancellationToken cancellationToken)
    {
        if (PostgresCluster.Missing is not null)
        {
            return null;
        }

        var settings = new Dictionary<string, string> { ["max_connections"] = $"{MaxConnections}" };
        PostgresCluster cluster = await PostgresCluster.StartAsync(settings, cancellationToken).ConfigureAwait(false);
        Environment.SetEnvironmentVariable(Variable, cluster.ConnectionString);
        return cluster;
    }
}
