using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>Each of the <see cref="Traps"/>, on each provider.</summary>
[Collection(PostgresServer.Collection)]
public sealed class TrapTests(PostgresServer server)
{
    public static TheoryData<string> Names => EachProvider.NamesOf(typeof(Traps));

    public static TheoryData<string> ServerNames => EachProvider.NamesOf(typeof(ServerTraps));

    [Theory]
    [MemberData(nameof(Names))]
    public Task On_SQLite(string name) => EachProvider.RunAsync(typeof(Traps), name, new SqliteDatabase());

    [PostgresTheory]
    [MemberData(nameof(Names))]
    public Task On_PostgreSQL(string name) => EachProvider.RunAsync(typeof(Traps), name, new PostgresDatabase(server.Cluster));

    [PostgresTheory]
    [MemberData(nameof(ServerNames))]
    public Task On_a_server(string name) => EachProvider.RunAsync(typeof(ServerTraps), name, new PostgresDatabase(server.Cluster));
}
