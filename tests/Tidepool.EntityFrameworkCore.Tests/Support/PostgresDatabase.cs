using System.Collections.Concurrent;
using System.Data.Common;
using Microsoft.EntityFrameworkCore;
using Npgsql;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Support;

/// <summary>
/// A database of its own on the server; made by the test, or by <see cref="TestDatabase.FillAsync"/>. One whose tables are still those of
/// the beginning is filled anew for the next test: to make one takes longer than most tests do.
/// </summary>
internal sealed class PostgresDatabase : TestDatabase
{
    private const string Template = "filled";

    /// <summary>Keeps the rows of the beginning beside the tables.</summary>
    private const string Keep =
        """
        CREATE SCHEMA kept;
        CREATE TABLE kept.customers AS TABLE "Customers";
        CREATE TABLE kept.orders AS TABLE "Orders";
        CREATE TABLE kept.tags AS TABLE "Tags";
        CREATE TABLE kept.links AS TABLE "CustomerTag";
        """;

    private const string FillAgain =
        """
        TRUNCATE "Customers", "Orders", "Tags", "CustomerTag" RESTART IDENTITY;
        INSERT INTO "Customers" TABLE kept.customers;
        INSERT INTO "Orders" TABLE kept.orders;
        INSERT INTO "Tags" TABLE kept.tags;
        INSERT INTO "CustomerTag" TABLE kept.links;
        SELECT setval(pg_get_serial_sequence('"Customers"', 'Id'), max("Id")) FROM "Customers";
        SELECT setval(pg_get_serial_sequence('"Orders"', 'Id'), max("Id")) FROM "Orders";
        """;

    /// <summary>Whether the tables are still those of the beginning.</summary>
    private const string IsAsBefore =
        """
        SELECT count(*) = 4 AND bool_and(to_regclass('kept.customers') IS NOT NULL)
        FROM pg_tables WHERE schemaname = 'public' AND tablename IN ('Customers', 'Orders', 'Tags', 'CustomerTag')
            AND (SELECT count(*) = 4 FROM pg_tables WHERE schemaname = 'public') AND to_regtype('mood') IS NULL
        """;

    private static readonly ConcurrentBag<string> Filled = [];

    private static int _last;
    private static PostgresCluster? _hasTemplate;

    private readonly PostgresCluster _cluster;
    private bool _isFilled;

    internal PostgresDatabase(PostgresCluster cluster) => _cluster = cluster;

    internal override bool HasServer => true;

    internal string Name { get; private set; } = $"test{Interlocked.Increment(ref _last)}";

    internal override string ConnectionString =>
        new NpgsqlConnectionStringBuilder(_cluster.ConnectionString) { Database = Name, MaxPoolSize = 4 }.ConnectionString;

    internal override string Place => Name;

    internal override PooledDbDataSource NewPool(PooledDbOptions? options = null) =>
        new(NpgsqlFactory.Instance, ConnectionString, options);

    internal override void UseProvider(DbContextOptionsBuilder builder, string? connectionString = null, bool retries = false) =>
        builder.UseNpgsql(connectionString, npgsql =>
        {
            if (retries)
            {
                npgsql.EnableRetryOnFailure(3, TimeSpan.FromMilliseconds(10), null);
            }
        });

    /// <summary>Ended when the server lists it no more, and has said so to its client.</summary>
    internal override async Task KillAsync(DbConnection native) => await _cluster.TerminateAsync(((NpgsqlConnection)native).ProcessID);

    internal override async Task FillAsync()
    {
        if (Filled.TryTake(out string? name))
        {
            Name = name;
            await ReadAsync(FillAgain);
        }
        else
        {
            await MakeTemplateAsync();
            await _cluster.ExecuteAsync($"CREATE DATABASE {Name} TEMPLATE {Template}");
        }

        _isFilled = true;
    }

    public override async ValueTask DisposeAsync()
    {
        if (_isFilled && await IsIntactAsync())
        {
            Filled.Add(Name);
            return;
        }

        NpgsqlConnection.ClearAllPools();
        await _cluster.ExecuteAsync($"DROP DATABASE IF EXISTS {Name} WITH (FORCE)");
    }

    private async Task<bool> IsIntactAsync()
    {
        try
        {
            return await ReadAsync(IsAsBefore) is true;
        }
        catch (PostgresException e) when (e.SqlState == "3D000")
        {
            return false;
        }
    }

    private async Task<object?> ReadAsync(string sql)
    {
        await using var connection = new NpgsqlConnection(ConnectionString + ";Pooling=false");
        await connection.OpenAsync();
        await using var command = new NpgsqlCommand(sql, connection);
        return await command.ExecuteScalarAsync();
    }

    /// <summary>Makes the database that others are copies of, once for each server.</summary>
    private async Task MakeTemplateAsync()
    {
        if (ReferenceEquals(_hasTemplate, _cluster))
        {
            return;
        }

        var template = new PostgresDatabase(_cluster) { Name = Template };
        await template.MakeAsync();
        await template.ReadAsync(Keep);
        NpgsqlConnection.ClearAllPools(); // a database that is copied must have no sessions
        _hasTemplate = _cluster;
    }

    private Task MakeAsync() => base.FillAsync();
}
