using System.Data;
using System.Data.Common;
using System.Globalization;
using Microsoft.Data.Sqlite;
using Npgsql;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;
using Xunit.Abstractions;

namespace Tidepool.Data.Tests;

/// <summary>
/// Random operations on a pooled connection and on one of the provider: results, errors, events and states are the same.
/// </summary>
[Collection(PostgresServer.Collection)]
public sealed class ParityTests(PostgresServer server, ITestOutputHelper output)
{
    private const int Length = 40;
    private const string NoSuchTable = "[42P01]";
    private const string Content =
        "DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u; CREATE TABLE t (a int PRIMARY KEY, b text); INSERT INTO t VALUES (1, "
            + "'one'), (2, 'two'), (3, NULL)";

    [Fact]
    public async Task A_pooled_connection_to_SQLite_behaves_as_the_providers()
    {
        using var bareFile = new SqliteFile();
        using var pooledFile = new SqliteFile();
        await using PooledDbDataSource pool = pooledFile.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await CompareAsync(
            output,
            pool,
            () => new SqliteConnection(bareFile.ConnectionString + ";Pooling=False"),
            hasBatches: false,
            rounds: 150,
            fill: () =>
            {
                using SqliteConnection one = bareFile.OpenBare();
                one.Run(Content);
                using SqliteConnection other = pooledFile.OpenBare();
                other.Run(Content);
                // A session learns that others have changed the tables when it next runs a statement; the provider's is new.
                using PooledDbConnection session = pool.OpenConnection();
                using DbCommand look = session.CreateCommand();
                look.CommandText = "SELECT count(*) FROM t";
                look.ExecuteScalar();
                return Task.CompletedTask;
            });
    }

    [PostgresFact]
    public async Task A_pooled_connection_to_PostgreSQL_behaves_as_the_providers()
    {
        await server.Cluster.ExecuteAsync("CREATE SCHEMA IF NOT EXISTS bare");
        await server.Cluster.ExecuteAsync("CREATE SCHEMA IF NOT EXISTS pooled");
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } }, ";Search Path=pooled");
        await using NpgsqlDataSource bare = NpgsqlDataSource.Create(server.ConnectionString + ";Search Path=bare");
        await CompareAsync(
            output,
            pool,
            () => bare.CreateConnection(),
            hasBatches: true,
            rounds: 150,
            fill: async () =>
            {
                await server.Cluster.ExecuteAsync("SET search_path = bare; " + Content);
                await server.Cluster.ExecuteAsync("SET search_path = pooled; " + Content);
            });
    }

    /// <summary>Random operations on both, one after the other.</summary>
    internal static async Task CompareAsync(
        ITestOutputHelper output,
        PooledDbDataSource pool,
        Func<DbConnection> newBare,
        bool hasBatches,
        int rounds,
        Func<Task> fill)
    {
        string? given = Environment.GetEnvironmentVariable("TIDEPOOL_TEST_SEED");
        int seed = given is null ? Random.Shared.Next() : int.Parse(given, CultureInfo.InvariantCulture);
        output.WriteLine($"seed {seed} (repeat with TIDEPOOL_TEST_SEED={seed})");
        int failures = 0;
        int cut = 0;
        for (int round = 0; round < rounds; round++)
        {
            await fill();
            var random = new Random(seed + round);
            using var bare = new Actor(newBare(), isRecycled: hasBatches);
            using var pooled = new Actor(pool.CreateConnection(), isRecycled: hasBatches);
            List<string> told = [];
            for (int i = 0; i < Length; i++)
            {
                Operation operation = i == 0 ? new Operation("open", "", 0, false) : Operation.Draw(random, hasBatches);
                string expected = await bare.DoAsync(operation);
                string actual = (await pooled.DoAsync(operation)).Replace("pooled", "bare", StringComparison.Ordinal); // names of databases
                told.Add($"{operation}: {expected}");
                failures += expected.Contains("Exception", StringComparison.Ordinal) ? 1 : 0;
                Assert.True(
                    expected == actual || IsKnown(operation, expected, actual, isRecycled: hasBatches),
                    $"seed {seed + round}, after\n{string.Join('\n', told)}\nthe provider's "
                        + $"said\n{expected}\nand the pooled one\n{actual}");
                if (State(expected) == nameof(ConnectionState.Broken))
                {
                    break; // what follows on it is chance
                }

                if (State(expected) != State(actual) || IsCostly(operation, expected, actual))
                {
                    cut++;
                    break; // what differs on purpose has cost one of them its session
                }
            }
        }

        output.WriteLine($"{rounds * Length} operations, of which {failures} failed in the same way; {cut} rounds ended early");
        Assert.True(cut <= rounds / 10, "too many rounds ended early");
        Assert.True(failures > rounds, "too few operations failed for the errors to be compared");
        pool.Settle();
        pool.Validate();
        Assert.Equal(0, pool.GetStatistics().Leased);
        Assert.True(pool.GetStatistics().Created < rounds, "the sessions were used again");
    }

    private static string State(string told) => told[(told.LastIndexOf(' ') + 1)..];

    /// <summary>The provider's transaction has failed by what the pooled session did not have to ask.</summary>
    private static bool IsCostly(Operation operation, string expected, string actual) =>
        operation.Kind == "prepare" && expected != actual && expected.Contains(NoSuchTable, StringComparison.Ordinal);

    /// <summary>
    /// What differs and is meant to: a session keeps what the provider has prepared on it, so preparing the same text again asks nothing
    /// of a session that is busy or whose transaction has failed, nor whether the table is still there; readers and transactions that
    /// Npgsql uses again say after their end always the same, and not what a later use of the provider's object makes of it.
    /// </summary>
    private static bool IsKnown(Operation operation, string expected, string actual, bool isRecycled)
    {
        bool IsSaid(string text) => expected.Contains(text, StringComparison.Ordinal);
        bool succeeded = !IsSaid("Exception");
        return operation.Kind switch
        {
            "prepare" =>
                actual.StartsWith("ok", StringComparison.Ordinal)
                    && (IsSaid("[25P02]") || IsSaid(NoSuchTable) || IsSaid("already in progress")),
            "rcount" => isRecycled && IsSaid("True") && actual.Contains("True", StringComparison.Ordinal),
            ['r', ..] when actual.Contains("MySqlDataReader is closed", StringComparison.Ordinal) => true,
            ['r', ..] when actual.Contains("The reader is closed", StringComparison.Ordinal) =>
                IsSaid("'NpgsqlDataReader'") || (operation.Kind is "rcolumns" or "rschema" && succeeded),
            _ => IsSaid("Transaction is already completed") && actual.Contains("NpgsqlTransaction", StringComparison.Ordinal),
        };
    }
}
