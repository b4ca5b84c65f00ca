using System.Data.Common;
using Microsoft.Data.Sqlite;
using MySqlConnector;
using Npgsql;
using Tidepool.Data;

namespace Tidepool.Labs;

/// <summary>The owner of the pool of sessions.</summary>
internal enum PoolKind
{
    /// <summary>The provider, as it does by default.</summary>
    Provider,

    /// <summary>None: <c>Pooling=false</c>.</summary>
    None,

    /// <summary>A <see cref="PooledDbDataSource"/> over the provider.</summary>
    Tidepool,
}

/// <summary>Data sources of each kind, and what they are called in tables.</summary>
internal static class PoolKinds
{
    /// <summary>Ours, in tables.</summary>
    public const string Ours = nameof(PooledDbDataSource);

    /// <summary>Ours where the reset of a session goes with the first statement of its next renter, in tables.</summary>
    public const string OursLater = $"{Ours}, reset with next";

    /// <summary>All kinds, in the order of tables.</summary>
    public static IReadOnlyList<PoolKind> All { get; } = [PoolKind.Provider, PoolKind.None, PoolKind.Tidepool];

    /// <summary>Those that pool.</summary>
    public static IReadOnlyList<PoolKind> Pools { get; } = [PoolKind.Provider, PoolKind.Tidepool];

    /// <summary>The subject of tables.</summary>
    public static string Name(this PoolKind kind, string provider) => kind switch
    {
        PoolKind.Provider => $"{provider}, its pool",
        PoolKind.None => $"{provider}, Pooling=false",
        _ => Ours,
    };

    /// <summary>The heading of a column.</summary>
    public static string Column(this PoolKind kind) => kind switch
    {
        PoolKind.Provider => "its pool",
        PoolKind.None => "Pooling=false",
        _ => "ours",
    };

    /// <summary>Sessions of the run's PostgreSQL server.</summary>
    /// <param name="kind">Who pools.</param>
    /// <param name="size">The most sessions, where there is a pool.</param>
    /// <param name="resets">Whether sessions are reset between two users.</param>
    /// <param name="application">The name under which the server lists them.</param>
    /// <param name="connectionString">Another server; null is that of the run.</param>
    /// <param name="resetsLater">Whether our reset goes with the first statement of the next user.</param>
    public static DbDataSource OpenPostgres(
        PoolKind kind,
        int size,
        bool resets = true,
        string application = "lab",
        string? connectionString = null,
        bool resetsLater = false)
    {
        string text = new NpgsqlConnectionStringBuilder(connectionString ?? LabServer.ConnectionString)
        {
            ApplicationName = application,
            Pooling = kind == PoolKind.Provider,
            MaxPoolSize = size,
            NoResetOnClose = !resets,
            Enlist = false,
        }.ConnectionString;
        NpgsqlDataSource native = NpgsqlDataSource.Create(text);
        return kind == PoolKind.Tidepool
            ? new PooledDbDataSource(native, new PooledDbOptions
            {
                Pool = new() { Name = application, MaxSize = size, ResetMode = resets ? ResetMode.Background : ResetMode.None },
                ResetWithNextStatement = resetsLater,
            })
            : native;
    }

    /// <summary>Sessions of the run's MariaDB server.</summary>
    /// <param name="kind">Who pools.</param>
    /// <param name="size">The most sessions, where there is a pool.</param>
    /// <param name="resets">Whether sessions are reset between two users.</param>
    /// <param name="connectionString">Another server; null is that of the run.</param>
    public static DbDataSource OpenMySql(PoolKind kind, int size, bool resets = true, string? connectionString = null)
    {
        string text = new MySqlConnectionStringBuilder(connectionString ?? MySqlLabServer.ConnectionString!)
        {
            Pooling = kind == PoolKind.Provider,
            MaximumPoolSize = (uint)size,
            ConnectionReset = resets,
            AutoEnlist = false,
        }.ConnectionString;
        var native = new MySqlDataSource(text);
        return kind == PoolKind.Tidepool
            ? new PooledDbDataSource(native, new PooledDbOptions
            {
                Pool = new() { Name = "mysql", MaxSize = size, ResetMode = resets ? ResetMode.Background : ResetMode.None },
            })
            : native;
    }

    /// <summary>Sessions of a SQLite file.</summary>
    /// <param name="kind">Who pools.</param>
    /// <param name="file">The file.</param>
    /// <param name="resets">Whether ours resets sessions between two users.</param>
    public static DbDataSource OpenSqlite(PoolKind kind, string file, bool resets = true)
    {
        string text = new SqliteConnectionStringBuilder { DataSource = file, Pooling = kind == PoolKind.Provider }.ConnectionString;
        return kind == PoolKind.Tidepool
            ? new PooledDbDataSource(SqliteFactory.Instance, text, new PooledDbOptions
            {
                Pool = new() { Name = "file", MaxSize = 100, ResetMode = resets ? ResetMode.Background : ResetMode.None },
            })
            : SqliteFactory.Instance.CreateDataSource(text);
    }

    /// <summary>Ends all idle sessions.</summary>
    public static void Clear(DbDataSource source)
    {
        switch (source)
        {
            case PooledDbDataSource ours:
                ours.ClearAsync().GetAwaiter().GetResult();
                break;
            case NpgsqlDataSource provider:
                provider.Clear();
                break;
            default:
                SqliteConnection.ClearAllPools();
                break;
        }
    }
}
