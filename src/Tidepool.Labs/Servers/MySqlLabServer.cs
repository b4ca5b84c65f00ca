namespace Tidepool.Labs;

/// <summary>
/// The MariaDB server of a run with <c>--mysql</c>, one for all labs. Its address travels to the measuring processes in their environment.
/// </summary>
internal static class MySqlLabServer
{
    private const string Variable = "TIDEPOOL_LAB_MYSQL";

    /// <summary>Where it is, for MySqlConnector; null in a run without.</summary>
    public static string? ConnectionString => Environment.GetEnvironmentVariable(Variable);

    /// <summary>What the rows that need it say where it is not there.</summary>
    public static string Missing => MariaDbServer.Missing is { } missing ? $"{missing} Then run with --mysql" : "run with --mysql";

    /// <summary>Starts a server for this process and those that it starts; null where none can run.</summary>
    /// <exception cref="LabServerException">It did not start.</exception>
    public static async Task<MariaDbServer?> StartAsync(CancellationToken cancellationToken)
    {
        if (MariaDbServer.Missing is not null)
        {
            return null;
        }

        var settings = new Dictionary<string, string> { ["max_connections"] = "400" };
        MariaDbServer server = await MariaDbServer.StartAsync(settings, cancellationToken).ConfigureAwait(false);
        Environment.SetEnvironmentVariable(Variable, server.ConnectionString);
        return server;
    }
}
