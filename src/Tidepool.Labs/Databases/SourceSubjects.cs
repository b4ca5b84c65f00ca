using System.Data.Common;
using MySqlConnector;
using Npgsql;
using Tidepool.Data;

namespace Tidepool.Labs;

/// <summary>
/// Opens connections in a timed loop; a struct, so that each has loops of its own and is called as users call it, by its own type.
/// </summary>
/// <typeparam name="TSelf">The struct itself.</typeparam>
/// <typeparam name="TConnection">The type of its connections.</typeparam>
internal interface ISourceSubject<TSelf, TConnection>
    where TSelf : struct, ISourceSubject<TSelf, TConnection>
    where TConnection : DbConnection
{
    /// <summary>Takes the data source.</summary>
    static abstract TSelf Of(DbDataSource source);

    /// <summary>Opens a connection.</summary>
    ValueTask<TConnection> OpenAsync();
}

/// <summary>Npgsql, with its pool or without.</summary>
internal readonly struct NpgsqlSourceSubject(NpgsqlDataSource source) : ISourceSubject<NpgsqlSourceSubject, NpgsqlConnection>
{
    /// <inheritdoc/>
    public static NpgsqlSourceSubject Of(DbDataSource source) => new((NpgsqlDataSource)source);

    /// <inheritdoc/>
    public ValueTask<NpgsqlConnection> OpenAsync() => source.OpenConnectionAsync();
}

/// <summary>MySqlConnector, with its pool or without.</summary>
internal readonly struct MySqlSourceSubject(MySqlDataSource source) : ISourceSubject<MySqlSourceSubject, MySqlConnection>
{
    /// <inheritdoc/>
    public static MySqlSourceSubject Of(DbDataSource source) => new((MySqlDataSource)source);

    /// <inheritdoc/>
    public ValueTask<MySqlConnection> OpenAsync() => source.OpenConnectionAsync();
}

/// <summary>Ours.</summary>
internal readonly struct PooledSourceSubject(PooledDbDataSource source) : ISourceSubject<PooledSourceSubject, PooledDbConnection>
{
    /// <inheritdoc/>
    public static PooledSourceSubject Of(DbDataSource source) => new((PooledDbDataSource)source);

    /// <inheritdoc/>
    public ValueTask<PooledDbConnection> OpenAsync() => source.OpenConnectionAsync();
}

/// <summary>Any provider.</summary>
internal readonly struct AnySourceSubject(DbDataSource source) : ISourceSubject<AnySourceSubject, DbConnection>
{
    /// <inheritdoc/>
    public static AnySourceSubject Of(DbDataSource source) => new(source);

    /// <inheritdoc/>
    public ValueTask<DbConnection> OpenAsync() => source.OpenConnectionAsync();
}
