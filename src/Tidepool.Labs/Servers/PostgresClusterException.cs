namespace Tidepool.Labs;

/// <summary>A throw-away PostgreSQL server could not be made, or did not do what it was told.</summary>
internal sealed class PostgresClusterException(string message) : Exception(message);
