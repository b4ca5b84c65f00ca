namespace Tidepool.Advice;

/// <summary>What a number of a meter says of a pool.</summary>
internal enum MeterColumn
{
    /// <summary>What waits for a user.</summary>
    Idle,

    /// <summary>What is in use.</summary>
    Used,

    /// <summary>The most there may be.</summary>
    Max,

    /// <summary>What waits for one of them.</summary>
    Waiting,

    /// <summary>A count that grows with each use.</summary>
    Uses,
}

/// <summary>The place of a measurement in the table of metered pools.</summary>
/// <param name="Row">The pool.</param>
/// <param name="Column">What the number says.</param>
/// <param name="Unit"><c>By</c> for bytes, else null.</param>
internal readonly record struct MeterPlace(string Row, MeterColumn Column, string? Unit = null);

/// <summary>Knows the meters of the pools that programs use without asking for one.</summary>
internal static class MeterMap
{
    /// <summary>The meters to listen to, those of the process itself included.</summary>
    public static string Meters { get; } = string.Join(
        ',',
        "System.Runtime", "System.Net.Http", "Npgsql", "MySqlConnector", "Microsoft.AspNetCore.Server.Kestrel",
        "Microsoft.AspNetCore.MemoryPool");

    /// <summary>Where a measurement belongs; null for one that says nothing of a pool.</summary>
    public static MeterPlace? PlaceOf(string meter, string instrument, IReadOnlyDictionary<string, string> tags) => meter switch
    {
        "System.Net.Http" => OfHttp(instrument, tags),
        "Npgsql" or "MySqlConnector" => OfDatabase(meter, instrument, tags),
        "Microsoft.AspNetCore.Server.Kestrel" => OfKestrel(instrument, tags),
        "Microsoft.AspNetCore.MemoryPool" => OfKestrelMemory(instrument, tags),
        "System.Runtime" => OfThreadPool(instrument),
        _ => null,
    };

    private static MeterPlace? OfHttp(string instrument, IReadOnlyDictionary<string, string> tags) => instrument switch
    {
        "http.client.open_connections" => new(
            HttpName(tags), Tag(tags, "http.connection.state") == "idle" ? MeterColumn.Idle : MeterColumn.Used),
        "http.client.request.time_in_queue" => new(HttpName(tags), MeterColumn.Uses),
        _ => null,
    };

    private static MeterPlace? OfDatabase(string meter, string instrument, IReadOnlyDictionary<string, string> tags)
    {
        string name = $"{meter} {Tag(tags, "db.client.connection.pool.name") ?? Tag(tags, "pool.name") ?? ""}".TrimEnd();
        string? state = Tag(tags, "db.client.connection.state") ?? Tag(tags, "state");
        return instrument switch
        {
            "db.client.connection.count" or "db.client.connections.usage" =>
                new(name, state == "idle" ? MeterColumn.Idle : MeterColumn.Used),
            "db.client.connection.max" or "db.client.connections.max" => new(name, MeterColumn.Max),
            "db.client.connection.pending_requests" or "db.client.connections.pending_requests" => new(name, MeterColumn.Waiting),
            "db.client.operation.duration" or "db.client.connections.use_time" => new(name, MeterColumn.Uses),
            _ => null,
        };
    }

    private static MeterPlace? OfKestrel(string instrument, IReadOnlyDictionary<string, string> tags)
    {
        string name = $"Kestrel {Tag(tags, "server.address") ?? ""}:{Tag(tags, "server.port") ?? ""}";
        return instrument switch
        {
            "kestrel.active_connections" => new(name, MeterColumn.Used),
            "kestrel.queued_connections" or "kestrel.queued_requests" => new(name, MeterColumn.Waiting),
            "kestrel.connection.duration" => new(name, MeterColumn.Uses),
            _ => null,
        };
    }

    private static MeterPlace? OfKestrelMemory(string instrument, IReadOnlyDictionary<string, string> tags)
    {
        string name = $"memory of {Tag(tags, "aspnetcore.memory_pool.owner") ?? "ASP.NET Core"}";
        return instrument switch
        {
            "aspnetcore.memory_pool.pooled" => new(name, MeterColumn.Idle, "By"),
            "aspnetcore.memory_pool.rented" => new(name, MeterColumn.Uses, "By"),
            _ => null,
        };
    }

    private static MeterPlace? OfThreadPool(string instrument) => instrument switch
    {
        "dotnet.thread_pool.thread.count" => new("thread pool", MeterColumn.Used),
        "dotnet.thread_pool.queue.length" => new("thread pool", MeterColumn.Waiting),
        "dotnet.thread_pool.work_item.count" => new("thread pool", MeterColumn.Uses),
        _ => null,
    };

    private static string HttpName(IReadOnlyDictionary<string, string> tags)
    {
        string port = Tag(tags, "server.port") is { } number ? $":{number}" : "";
        return $"HTTP {Tag(tags, "url.scheme") ?? "http"}://{Tag(tags, "server.address") ?? "?"}{port}";
    }

    private static string? Tag(IReadOnlyDictionary<string, string> tags, string name) => tags.GetValueOrDefault(name);
}
