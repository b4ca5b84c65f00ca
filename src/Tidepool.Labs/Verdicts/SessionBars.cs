namespace Tidepool.Labs;

/// <summary>The bars of one database for the sessions of five inserts, with a pool and without.</summary>
/// <param name="id">The database in the names of the results.</param>
/// <param name="database">The database for readers.</param>
internal sealed class SessionBars(string id, string database)
{
    public Bar Used { get; } = Of(id, database, "used", "pooled: five inserts use 1 session", 1);

    public Bar Kept { get; } = Of(id, database, "kept", "pooled: it is still there after the last of them", 1);

    public Bar Cleared { get; } = Of(id, database, "cleared", "pooled: no session is left after the pool was cleared", 0);

    public Bar Ended { get; } = Of(id, database, "ended", "pooled: no session is left after the process ended", 0);

    public Bar Unpooled { get; } = Of(id, database, "unpooled.used", "not pooled: five inserts use 5 sessions", 5);

    public Bar NotKept { get; } = Of(id, database, "unpooled.kept", "not pooled: none is left", 0);

    /// <summary>All of them.</summary>
    public IReadOnlyList<Bar> All => [Used, Kept, Cleared, Ended, Unpooled, NotKept];

    private static Bar Of(string id, string database, string what, string name, double limit) =>
        new($"connections.{id}.{what}", $"connections, five inserts, {database}", $"{database}, {name}", BarKind.Count, limit);
}
