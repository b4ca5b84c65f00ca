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

    /// <summary>In sequential access the provider reads up to the value that it is asked for.</summary>
    internal override bool BuffersRows(CommandBehavior behavior) => (behavior & CommandBehavior.SequentialAccess) == 0;

    internal override string OpeningTimeout => "Timeout";

    /// <summary>Whether reloaded types are noticed with the provider's version that is loaded.</summary>
    internal static bool SeesTypes => Types is not null;

    internal override object? TypesOf(DbDataSource inner) =>
        Types is not null && Types.DeclaringType!.IsInstanceOfType(inner) ? Types.GetValue(inner) : null;

    internal override async ValueTask<string?> FindPoolerAsync(
        bool isAsync, DbConnection connection, CancellationToken cancellationToken)
    {
        if (ProcessOf(connection) is not { } reported)
        {
            return null;
        }

        try
        {
            return Compare(reported, await QueryAsync(isAsync, connection, Process, cancellationToken).ConfigureAwait(false));
        }
        catch (DbException) when (connection.State == ConnectionState.Open)
        {
            return null; // a relative of PostgreSQL that has no such function
        }
    }

    public override bool Reset(DbConnection connection, DbSessionInfo session) =>
        ResetAsync(isAsync: false, connection, session, CancellationToken.None).EnsureCompleted();

    public override ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken) =>
        ResetAsync(isAsync: true, connection, session, cancellationToken);

    internal override ValueTask<bool> ValidateAsync(
        bool isAsync, DbConnection connection, int timeLimit, CancellationToken cancellationToken) =>
        SelectOneAsync(isAsync, connection, timeLimit, cancellationToken);

    internal override bool TryResetLater(DbConnection connection) => NpgsqlPrefix.TryReset(connection);

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
    internal override async ValueTask<bool> WritesAsync(bool isAsync, DbConnection connection, CancellationToken cancellationToken) =>
        await QueryAsync(isAsync, connection, Role, cancellationToken).ConfigureAwait(false) is "off";

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

    /// <summary>A statement that may not stand in a transaction says so, or the transaction had failed before.</summary>
    private static bool IsInTransaction(DbException e) => e.SqlState is "25001" or "25P02";

    private static async ValueTask<bool> ResetAsync(
        bool isAsync, DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken)
    {
        if (session.HasPrepared || session.WasLent)
        {
            await ResetItemsAsync(isAsync, connection, session.TimeLimit, cancellationToken).ConfigureAwait(false);
            return true;
        }

        try
        {
            await ExecuteAsync(isAsync, connection, Everything, cancellationToken, session.TimeLimit).ConfigureAwait(false);
        }
        catch (DbException e) when (IsInTransaction(e))
        {
            await ExecuteAsync(isAsync, connection, "ROLLBACK", cancellationToken, session.TimeLimit).ConfigureAwait(false);
            await ExecuteAsync(isAsync, connection, Everything, cancellationToken, session.TimeLimit).ConfigureAwait(false);
        }

        return true;
    }

    private static async ValueTask ResetItemsAsync(
        bool isAsync, DbConnection connection, int timeLimit, CancellationToken cancellationToken)
    {
        List<string> names = [];
        DbTransaction transaction = await BeginAnewAsync(isAsync, connection, timeLimit, cancellationToken).ConfigureAwait(false);
        try
        {
            using DbCommand command = connection.CreateCommand();
            command.CommandText = Items;
            Limit(command, timeLimit);
            command.Transaction = transaction;
            DbDataReader reader =
                isAsync ? await command.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false) : command.ExecuteReader();
            try
            {
                do
                {
                    while (isAsync ? await reader.ReadAsync(cancellationToken).ConfigureAwait(false) : reader.Read())
                    {
                        Collect(names, reader);
                    }
                }
                while (isAsync ? await reader.NextResultAsync(cancellationToken).ConfigureAwait(false) : reader.NextResult());
            }
            finally
            {
                await reader.DisposeAsync(isAsync).ConfigureAwait(false);
            }
        }
        finally
        {
            await transaction.DisposeAsync(isAsync).ConfigureAwait(false);
        }

        foreach (string name in names)
        {
            await ExecuteAsync(isAsync, connection, "DEALLOCATE " + name, cancellationToken, timeLimit).ConfigureAwait(false);
        }
    }

    private static async ValueTask<object?> QueryAsync(
        bool isAsync, DbConnection connection, string sql, CancellationToken cancellationToken)
    {
        using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        return isAsync ? await command.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false) : command.ExecuteScalar();
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
    private static async ValueTask<DbTransaction> BeginAnewAsync(
        bool isAsync, DbConnection connection, int timeLimit, CancellationToken cancellationToken)
    {
        try
        {
            return await BeginAsync(isAsync, connection, cancellationToken).ConfigureAwait(false);
        }
        catch (InvalidOperationException)
        {
            await ExecuteAsync(isAsync, connection, "ROLLBACK", cancellationToken, timeLimit).ConfigureAwait(false);
            return await BeginAsync(isAsync, connection, cancellationToken).ConfigureAwait(false);
        }
    }
}
