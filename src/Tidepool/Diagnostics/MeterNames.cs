namespace Tidepool;

/// <summary>What the measurements of one kind of pool are called.</summary>
internal sealed record MeterNames
{
    /// <summary>Names of pools of anything.</summary>
    internal static readonly MeterNames Resources = new()
    {
        Prefix = "tidepool.resource.",
        PoolTag = Telemetry.PoolTag,
        StateTag = "tidepool.resource.state",
        Unit = "{resource}",
    };

    /// <summary>The names that OpenTelemetry's conventions give to pools of database connections.</summary>
    internal static readonly MeterNames Connections = new()
    {
        Prefix = "db.client.connection.",
        PoolTag = "db.client.connection.pool.name",
        StateTag = "db.client.connection.state",
        Unit = "{connection}",
        HasIdleSizes = true,
    };

    internal required string Prefix { get; init; }

    /// <summary>The attribute with the pool's name.</summary>
    internal required string PoolTag { get; init; }

    internal required string StateTag { get; init; }

    internal required string Unit { get; init; }

    /// <summary>Whether the sizes of the pool are reported as limits of idle ones.</summary>
    internal bool HasIdleSizes { get; init; }
}
