using System.Data;
using System.Data.Common;
using System.Net.Sockets;

namespace Tidepool.Data;

/// <summary>
/// What a pool must know of one database: how a session is made as good as new, how it is asked whether it lives, and what errors mean.
/// Chosen by the provider unless it is given; derive from it for another database.
/// </summary>
/// <remarks>A pool calls it from many threads at once, but never for one connection at the same time.</remarks>
public abstract class DbAdapter
{
    /// <summary>PostgreSQL over Npgsql.</summary>
    public static DbAdapter Postgres { get; } = new PostgresAdapter();

    /// <summary>SQLite over Microsoft.Data.Sqlite.</summary>
    public static DbAdapter Sqlite { get; } = new SqliteAdapter();

    /// <summary>MySQL and MariaDB over MySqlConnector.</summary>
    /// <remarks>
    /// The provider resets a session only asynchronously: after a connection was closed by a thread that blocks, that is done in the
    /// background. A renter that sets a role costs the session, because no reset takes it back.
    /// </remarks>
    public static DbAdapter MySql { get; } = new MySqlAdapter();

    /// <summary>
    /// Any database: asks with <c>SELECT 1</c>, knows the errors of the SQL standard, and resets nothing but the transaction that a
    /// renter left open. Temporary tables and settings survive: derive an adapter where that matters.
    /// </summary>
    public static DbAdapter Generic { get; } = new GenericAdapter();

    /// <summary>
    /// Whether the provider joins an ambient transaction when a connection opens and its connection string does not say otherwise. The
    /// default says yes.
    /// </summary>
    public virtual bool JoinsAmbientTransactions => true;

    /// <summary>Whether there is anything to do for a reset.</summary>
    internal virtual bool HasReset => true;

    /// <summary>A reset asks a server, and waits for its answer.</summary>
    internal virtual bool WaitsInReset => true;

    /// <summary>A thread that blocks can reset. Otherwise the asynchronous reset runs in the background.</summary>
    internal virtual bool ResetsInline => true;

    /// <summary>A session whose renter had the provider's connection is closed, because nothing tells what was done with it.</summary>
    internal virtual bool EndsLentSessions => false;

    /// <summary>
    /// The provider uses the objects of one connection again, so that a stale reader or transaction would reach the next one.
    /// </summary>
    internal virtual bool RecyclesObjects => true;

    /// <summary>
    /// Whether a row is in memory once the provider has read it, so that its values wait for nothing. The default cannot tell, and says
    /// no: then each value holds the session.
    /// </summary>
    internal virtual bool BuffersRows(CommandBehavior behavior) => false;

    /// <summary>The provider's connection lists its commands until they are disposed.</summary>
    internal virtual bool ListsCommands => false;

    /// <summary>The provider closes the connection when a command that was to close it with its reader fails.</summary>
    internal virtual bool ClosesOnFailedRead => false;

    /// <summary>The provider tells listeners of an opening that it connects, and then that it is open.</summary>
    internal virtual bool AnnouncesConnecting => false;

    /// <summary>A connection of the provider may be opened again after it was disposed.</summary>
    internal virtual bool ReopensAfterDispose => false;

    /// <summary>
    /// The provider's word for the seconds that an opening may take, 0 without limit; null where it is not known. It bounds also the
    /// connection by which a provider asks the server to cancel a statement.
    /// </summary>
    internal virtual string? OpeningTimeout => null;

    /// <summary>
    /// Finds what an SQL text may leave on the session that executes it: rather too much than too little. The default assumes anything, so
    /// that each reset is a full one.
    /// </summary>
    internal virtual SessionResidue FindResidue(string text) => SessionResidue.Anything;

    /// <summary>What an operation that failed half-way may have left, in addition to what its text shows.</summary>
    internal virtual SessionResidue LeftByError => SessionResidue.Anything;

    /// <summary>
    /// Whether the server of a session that was just reset takes writes. The default cannot tell, and says no: it is asked only after one
    /// was refused.
    /// </summary>
    internal virtual ValueTask<bool> WritesAsync(bool isAsync, DbConnection connection, CancellationToken cancellationToken) => new(false);

    /// <summary>Says what pooler stands between a connection and the server; null for none, or where that cannot be told.</summary>
    internal virtual ValueTask<string?> FindPoolerAsync(bool isAsync, DbConnection connection, CancellationToken cancellationToken) =>
        new((string?)null);

    /// <summary>
    /// Whether an idle session shows that its server has ended it. Asked before a session is rented, so it must not wait. The default
    /// cannot tell, and says no.
    /// </summary>
    /// <param name="remembered">What the adapter noted when the session was new.</param>
    internal virtual bool HasEnded(object? remembered) => false;

    /// <summary>Gives what the provider knows of the types, one object for each loading; null where that cannot be seen. No I/O.</summary>
    internal virtual object? TypesOf(DbDataSource inner) => null;

    /// <summary>
    /// What is noted of a session when it is new and initialized, to be compared when it is reset. The default notes nothing.
    /// </summary>
    /// <param name="connection">The provider's connection, open.</param>
    public virtual object? Remember(DbConnection connection) => null;

    /// <summary>What is noted of a new session by an adapter that asks the server, or looks at what the program has made of it.</summary>
    /// <param name="isAsync">Whether to await.</param>
    /// <param name="connection">The provider's connection, open.</param>
    /// <param name="isInitialized">The program has made it ready: it may hold what the pool must leave there.</param>
    /// <param name="cancellationToken">Ends the asking.</param>
    internal virtual ValueTask<object?> RememberAsync(
        bool isAsync, DbConnection connection, bool isInitialized, CancellationToken cancellationToken) => new(Remember(connection));

    /// <summary>
    /// What a session is taken for in the reset that follows its initialization: the program had the provider's connection.
    /// </summary>
    internal virtual DbSessionInfo AfterInitialization(DbSessionInfo session) => session with { WasLent = true };

    /// <summary>Throws when a transaction is open, or anything else that keeps one from beginning.</summary>
    internal virtual async ValueTask ProveIdleAsync(bool isAsync, DbConnection connection, CancellationToken cancellationToken)
    {
        DbTransaction transaction = await BeginAsync(isAsync, connection, cancellationToken).ConfigureAwait(false);
        await transaction.DisposeAsync(isAsync).ConfigureAwait(false);
    }

    /// <summary>
    /// Makes a session as good as new: nothing of its last renter is left. Throwing, or false, ends the session.
    /// </summary>
    /// <param name="connection">The provider's connection, open.</param>
    /// <param name="session">What the pool knows of it.</param>
    /// <param name="cancellationToken">Cancelled after <see cref="ResourcePoolOptions.PolicyTimeout"/>.</param>
    public abstract ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken);

    /// <summary>Makes a session as good as new on the calling thread. Throwing, or false, ends the session.</summary>
    /// <param name="connection">The provider's connection, open.</param>
    /// <param name="session">What the pool knows of it.</param>
    public abstract bool Reset(DbConnection connection, DbSessionInfo session);

    /// <summary>Lets the reset travel with what is sent next; false where it cannot.</summary>
    internal virtual bool TryResetLater(DbConnection connection) => false;

    /// <summary>Asks whether a session lives. Throwing, or false, ends it. The default sends <c>SELECT 1</c>.</summary>
    /// <param name="connection">The provider's connection, open.</param>
    /// <param name="cancellationToken">Cancelled after <see cref="ResourcePoolOptions.PolicyTimeout"/>.</param>
    public virtual async ValueTask<bool> ValidateAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(connection);
        return await SelectOneAsync(isAsync: true, connection, 0, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Asks on the calling thread whether a session lives. Throwing, or false, ends it.</summary>
    /// <param name="connection">The provider's connection, open.</param>
    public virtual bool Validate(DbConnection connection)
    {
        ArgumentNullException.ThrowIfNull(connection);
        return SelectOneAsync(isAsync: false, connection, 0, CancellationToken.None).EnsureCompleted();
    }

    /// <summary>Asks whether a session lives, for a limited time where the adapter can see to that.</summary>
    /// <param name="isAsync">Whether to await.</param>
    /// <param name="connection">The provider's connection, open.</param>
    /// <param name="timeLimit">How many seconds the statement may take; 0 leaves that to the connection.</param>
    /// <param name="cancellationToken">Ends the asking.</param>
    internal virtual ValueTask<bool> ValidateAsync(
        bool isAsync, DbConnection connection, int timeLimit, CancellationToken cancellationToken) =>
        isAsync ? ValidateAsync(connection, cancellationToken) : new(Validate(connection));

    /// <summary>
    /// What an error means. No I/O. The default knows the classes of the SQL standard, and takes a failed read or write for the end of
    /// the server where the provider has closed the connection over it.
    /// </summary>
    /// <param name="exception">What the provider threw.</param>
    /// <param name="connection">Its connection, after the error.</param>
    public virtual DbErrorKind Classify(Exception exception, DbConnection connection)
    {
        ArgumentNullException.ThrowIfNull(exception);
        ArgumentNullException.ThrowIfNull(connection);
        if (exception is OperationCanceledException)
        {
            return DbErrorKind.Statement;
        }

        if (exception is DbException { SqlState: { Length: 5 } state } && ClassifyState(state) is var kind and not DbErrorKind.Statement)
        {
            // A function, or a server that this one asked, may raise any code; the session that told of it is open then.
            return kind == DbErrorKind.Server && connection.State == ConnectionState.Open ? DbErrorKind.Session : kind;
        }

        return connection.State != ConnectionState.Open && IsTransport(exception) ? DbErrorKind.Server : DbErrorKind.Statement;
    }

    /// <summary>What a SQLSTATE means. The default knows the classes 08 (connection) and 28 (credentials).</summary>
    /// <param name="sqlState">Five letters or digits.</param>
    protected virtual DbErrorKind ClassifyState(string sqlState)
    {
        ArgumentNullException.ThrowIfNull(sqlState);
        return sqlState.StartsWith("08", StringComparison.Ordinal) ? DbErrorKind.Server
            : sqlState.StartsWith("28", StringComparison.Ordinal) ? DbErrorKind.Credentials
            : DbErrorKind.Statement;
    }

    /// <summary>A command as the provider makes it for its connection. No object that the connection uses again.</summary>
    internal virtual DbCommand CreateCommand(DbConnection connection, DbProviderFactory? factory) => connection.CreateCommand();

    internal virtual DbBatch CreateBatch(DbConnection connection, DbProviderFactory? factory) => connection.CreateBatch();

    /// <summary>What the provider says when a reader is used that was disposed.</summary>
    internal virtual Exception DisposedReader() => new ObjectDisposedException(nameof(DbDataReader));

    /// <summary>What the provider says when a reader is used whose connection was closed.</summary>
    internal virtual Exception ClosedReader() => new InvalidOperationException("The reader is closed");

    /// <summary>What the provider says when a transaction is used after its end.</summary>
    internal virtual Exception EndedTransaction() => new ObjectDisposedException(nameof(DbTransaction));

    /// <summary>What any database understands. For adapters that have no question of their own.</summary>
    private protected static async ValueTask<bool> SelectOneAsync(
        bool isAsync, DbConnection connection, int timeLimit, CancellationToken cancellationToken)
    {
        await ExecuteAsync(isAsync, connection, "SELECT 1", cancellationToken, timeLimit).ConfigureAwait(false);
        return true;
    }

    private protected static async ValueTask ExecuteAsync(
        bool isAsync, DbConnection connection, string sql, CancellationToken cancellationToken, int timeLimit = 0)
    {
        DbCommand command = connection.CreateCommand();
        try
        {
            command.CommandText = sql;
            Limit(command, timeLimit);
            _ = isAsync ? await command.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false) : command.ExecuteNonQuery();
        }
        finally
        {
            await command.DisposeAsync(isAsync).ConfigureAwait(false);
        }
    }

    /// <summary>Lets a command take no longer than so many seconds; 0 leaves it as it is.</summary>
    private protected static void Limit(DbCommand command, int timeLimit)
    {
        if (timeLimit > 0 && (command.CommandTimeout == 0 || command.CommandTimeout > timeLimit))
        {
            command.CommandTimeout = timeLimit;
        }
    }

    private protected static ValueTask<DbTransaction> BeginAsync(
        bool isAsync, DbConnection connection, CancellationToken cancellationToken) =>
        isAsync ? connection.BeginTransactionAsync(cancellationToken) : new(connection.BeginTransaction());

    private static bool IsTransport(Exception error)
    {
        for (Exception? e = error; e is not null; e = e.InnerException)
        {
            if (e is IOException or SocketException or TimeoutException)
            {
                return true;
            }
        }

        return false;
    }
}
