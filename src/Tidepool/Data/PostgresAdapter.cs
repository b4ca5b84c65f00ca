using System.Data;
using System.Data.Common;
using System.Reflection;

namespace Tidepool.Data;

/// <summary>PostgreSQL over Npgsql.</summary>
internal sealed class PostgresAdapter : DbAdapter
{
    private const string Everything = "DISCARD ALL";

    /// <summary>Says yes on a standby too.</summary>
    private const string Role = "SHOW transaction_read_only";

    /// <summary>
    /// The parts of <see cref="Everything"/> that leave the provider's prepared statements alone, in one transaction and one round trip;
    /// at its end the names that the renter has prepared by itself.
    /// </summary>
    private const string Items =
        """
        CLOSE ALL;
        SET SESSION AUTHORIZATION DEFAULT;
        RESET ROLE;
        RESET ALL;
        UNLISTEN *;
        SELECT pg_catalog.pg_advisory_unlock_all();
        DISCARD TEMP;
        DISCARD SEQUENCES;
        SELECT pg_catalog.quote_ident(name) FROM pg_catalog.pg_prepared_statements WHERE from_sql;
        COMMIT
        """;

    private const string Process = "SELECT pg_catalog.pg_backend_pid()";

    /// <summary>By name: the library does not refer to the provider. Trimming keeps the members, because the names are literals.</summary>
    private static readonly PropertyInfo? ProcessId = Type.GetType("Npgsql.NpgsqlConnection, Npgsql")?.GetProperty("ProcessID");

    /// <summary>Internal to the provider. Where it has another name, a reload of types goes unnoticed.</summary>
    private static readonly FieldInfo? Types =
        Type.GetType("Npgsql.NpgsqlDataSource, Npgsql")?.GetField("CurrentReloadableState", BindingFlags.Instance | BindingFlags.NonPublic);

    internal override bool ClosesOnFailedRead => true;

    /// <summary>Whether reloaded types are noticed with the provider's version that is loaded.</summary>
    internal static bool SeesTypes => Types is not null;

    internal override object? TypesOf(DbDataSource inner) =>
        Types is not null && Types.DeclaringType!.IsInstanceOfType(inner) ? Types.GetValue(inner) : null;

    internal override string? FindPooler(DbConnection connection)
    {
        if (ProcessOf(connection) is not { } reported)
        {
            return null;
        }

        try
        {
            using DbCommand command = connection.CreateCommand();
            command.CommandText = Process;
            return Compare(reported, command.ExecuteScalar());
        }
        catch (DbException) when (connection.State == ConnectionState.Open)
        {
            return null; // a relative of PostgreSQL that has no such function
        }
    }

    internal override async ValueTask<string?> FindPoolerAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        if (ProcessOf(connection) is not { } reported)
        {
            return null;
        }

        try
        {
            DbCommand command = connection.CreateCommand();
            await using (command.ConfigureAwait(false))
            {
                command.CommandText = Process;
                return Compare(reported, await command.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false));
            }
        }
        catch (DbException) when (connection.State == ConnectionState.Open)
        {
            return null;
        }
    }

    public override bool Reset(DbConnection connection, DbSessionInfo session)
    {
        if (session.HasPrepared || session.WasLent)
        {
            ResetItems(connection);
            return true;
        }

        try
        {
            Execute(connection, Everything);
        }
        catch (DbException e) when (IsInTransaction(e))
        {
            Execute(connection, "ROLLBACK");
            Execute(connection, Everything);
        }

        return true;
    }

    public override async ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken)
    {
        if (session.HasPrepared || session.WasLent)
        {
            await ResetItemsAsync(connection, cancellationToken).ConfigureAwait(false);
            return true;
        }

        try
        {
            await ExecuteAsync(connection, Everything, cancellationToken).ConfigureAwait(false);
        }
        catch (DbException e) when (IsInTransaction(e))
        {
            await ExecuteAsync(connection, "ROLLBACK", cancellationToken).ConfigureAwait(false);
            await ExecuteAsync(connection, Everything, cancellationToken).ConfigureAwait(false);
        }

        return true;
    }

    /// <summary>
    /// With <c>Cancellation Timeout=-1</c> the provider closes a connection whose command took too long, without asking the server: that
    /// says nothing of the server.
    /// </summary>
    public override DbErrorKind Classify(Exception exception, DbConnection connection)
    {
        DbErrorKind kind = base.Classify(exception, connection);
        return kind == DbErrorKind.Server && exception is DbException { SqlState: null, InnerException: TimeoutException }
            && ConnectionText.ClosesOnTimeout(connection.ConnectionString)
            ? DbErrorKind.Session
            : kind;
    }

    /// <summary>The session is as new, so that only the server, its settings or those of the role refuse writes.</summary>
    internal override bool Writes(DbConnection connection)
    {
        using DbCommand command = connection.CreateCommand();
        command.CommandText = Role;
        return IsWriter(command.ExecuteScalar());
    }

    internal override async ValueTask<bool> WritesAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        DbCommand command = connection.CreateCommand();
        await using (command.ConfigureAwait(false))
        {
            command.CommandText = Role;
            return IsWriter(await command.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false));
        }
    }

    protected override DbErrorKind ClassifyState(string sqlState) => sqlState switch
    {
        "57P01" or "57P02" or "57P03" or "57P04" => DbErrorKind.Server,
        "57P05" or "25P03" or "08P01" => DbErrorKind.Session, // idle for too long; the protocol is out of step
        "25006" => DbErrorKind.ReadOnlyServer,
        "53300" => DbErrorKind.Exhausted,
        _ => base.ClassifyState(sqlState),
    };

    internal override DbCommand CreateCommand(DbConnection connection, DbProviderFactory? factory) =>
        factory?.CreateCommand() ?? connection.CreateCommand();

    internal override DbBatch CreateBatch(DbConnection connection, DbProviderFactory? factory) =>
        factory is { CanCreateBatch: true } ? factory.CreateBatch() : connection.CreateBatch();

    internal override Exception DisposedReader() => new ObjectDisposedException("NpgsqlDataReader");

    internal override Exception EndedTransaction() => new ObjectDisposedException("NpgsqlTransaction", innerException: null);

    /// <summary>The process that the connection would ask to cancel. A pooler invents one, in each of its modes.</summary>
    private static int? ProcessOf(DbConnection connection) =>
        ProcessId is not null && ProcessId.DeclaringType!.IsInstanceOfType(connection)
            && ProcessId.GetValue(connection) is int reported and not 0
            ? reported
            : null;

    private static string? Compare(int reported, object? asked) => asked is int process && process != reported
        ? $"A pooler such as PgBouncer stands between: the connection was told process "
            + $"{reported}, and the server answers as process {process}. "
            + $"Its mode cannot be seen from here. In session mode all is well: say {nameof(SessionPooler)} = "
            + $"{nameof(SessionPooler.Session)}. "
            + "In transaction mode a reset reaches whichever connection of the server comes next, so that callers may see settings and "
            + $"temporary tables of others, and prepared statements fail: say {nameof(SessionPooler)} = "
            + $"{nameof(SessionPooler.Transaction)}. "
            + "See \"Behind a pooler\" in docs/connections.md."
        : null;

    private static bool IsWriter(object? isReader) => isReader is "off";

    /// <summary>A statement that may not stand in a transaction says so, or the transaction had failed before.</summary>
    private static bool IsInTransaction(DbException e) => e.SqlState is "25001" or "25P02";

    private static void ResetItems(DbConnection connection)
    {
        List<string> names = [];
        using (DbTransaction transaction = Begin(connection))
        using (DbCommand command = connection.CreateCommand())
        {
            command.CommandText = Items;
            command.Transaction = transaction;
            using DbDataReader reader = command.ExecuteReader();
            do
            {
                while (reader.Read())
                {
                    Collect(names, reader);
                }
            }
            while (reader.NextResult());
        }

        foreach (string name in names)
        {
            Execute(connection, "DEALLOCATE " + name);
        }
    }

    private static async ValueTask ResetItemsAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        List<string> names = [];
        DbTransaction transaction = await BeginAsync(connection, cancellationToken).ConfigureAwait(false);
        await using (transaction.ConfigureAwait(false))
        {
            DbCommand command = connection.CreateCommand();
            await using (command.ConfigureAwait(false))
            {
                command.CommandText = Items;
                command.Transaction = transaction;
                DbDataReader reader = await command.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
                await using (reader.ConfigureAwait(false))
                {
                    do
                    {
                        while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
                        {
                            Collect(names, reader);
                        }
                    }
                    while (await reader.NextResultAsync(cancellationToken).ConfigureAwait(false));
                }
            }
        }

        foreach (string name in names)
        {
            await ExecuteAsync(connection, "DEALLOCATE " + name, cancellationToken).ConfigureAwait(false);
        }
    }

    private static void Collect(List<string> names, DbDataReader reader)
    {
        if (reader.GetName(0) == "quote_ident")
        {
            names.Add(reader.GetString(0));
        }
    }

    /// <summary>
    /// Begins a transaction. The provider knows without asking the server when the renter has left one open, and refuses; asking would
    /// cost a round trip, and a rollback on suspicion a warning in the server's log for each return.
    /// </summary>
    private static DbTransaction Begin(DbConnection connection)
    {
        try
        {
            return connection.BeginTransaction();
        }
        catch (InvalidOperationException)
        {
            Execute(connection, "ROLLBACK");
            return connection.BeginTransaction();
        }
    }

    private static async ValueTask<DbTransaction> BeginAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        try
        {
            return await connection.BeginTransactionAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (InvalidOperationException)
        {
            await ExecuteAsync(connection, "ROLLBACK", cancellationToken).ConfigureAwait(false);
            return await connection.BeginTransactionAsync(cancellationToken).ConfigureAwait(false);
        }
    }
}
