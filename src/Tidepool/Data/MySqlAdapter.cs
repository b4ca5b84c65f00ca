using System.Data;
using System.Data.Common;
using System.Globalization;
using System.Net.Sockets;
using System.Reflection;

namespace Tidepool.Data;

/// <summary>
/// MySQL and MariaDB over MySqlConnector. The protocol's own reset does nearly all. The provider sends it only asynchronously, so that no
/// caller that blocks can do it.
/// </summary>
internal sealed class MySqlAdapter : DbAdapter
{
    /// <summary>Where the provider puts the server's number of an error.</summary>
    private const string ServerErrorCode = "Server Error Code";

    /// <summary>A setting of the server forbids the statement: that it only reads, or another one.</summary>
    private const int ForbiddenBySetting = 1290;

    /// <summary>After the protocol's reset MySQL has its own default of the connection's charset, and not the provider's.</summary>
    private const string Charset = "SET NAMES utf8mb4";

    /// <summary>What the protocol's reset leaves as it is.</summary>
    private const string Place = "SELECT DATABASE(), CURRENT_ROLE(), CURRENT_USER()";

    /// <summary>For MySQL before 8.0, which has no roles.</summary>
    private const string PlaceWithoutRoles = "SELECT DATABASE(), NULL, CURRENT_USER()";

    /// <summary>Has a row where the server, and not a renter, refuses writes. No name here is known to every version.</summary>
    private const string RefusesWrites =
        """
        SHOW GLOBAL VARIABLES
        WHERE Variable_name IN ('read_only', 'super_read_only', 'tx_read_only', 'transaction_read_only') AND Value NOT IN ('OFF', '0')
        """;

    /// <summary>Refused by the server inside of a distributed transaction, prepared or not.</summary>
    private const string Rollback = "ROLLBACK";

    private const BindingFlags Hidden = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

    /// <summary>By name: the library does not refer to the provider. Trimming keeps the members, because the names are literals.</summary>
    private static readonly Type? ConnectionType = Type.GetType("MySqlConnector.MySqlConnection, MySqlConnector");

    private static readonly MethodInfo? ResetMethod = Type.GetType("MySqlConnector.MySqlConnection, MySqlConnector")
        ?.GetMethod("ResetConnectionAsync", [typeof(CancellationToken)]);

    /// <summary>
    /// These three are internal to the provider. Where one has another name, a session on which a statement was prepared serves one renter,
    /// or the end of a connection is noticed in its next use.
    /// </summary>
    private static readonly PropertyInfo? SessionProperty =
        Type.GetType("MySqlConnector.MySqlConnection, MySqlConnector")?.GetProperty("Session", Hidden);

    private static readonly MethodInfo? UnprepareMethod =
        Type.GetType("MySqlConnector.Core.ServerSession, MySqlConnector")?.GetMethod("ClearPreparedStatements", Hidden, []);

    private static readonly FieldInfo? SocketField =
        Type.GetType("MySqlConnector.Core.ServerSession, MySqlConnector")?.GetField("m_socket", Hidden);

    internal override bool WaitsInReset => false;

    internal override bool ResetsInline => false;

    internal override bool AnnouncesConnecting => true;

    /// <summary>The provider reads each row as a whole, whatever the behavior.</summary>
    internal override bool BuffersRows(CommandBehavior behavior) => true;

    internal override string OpeningTimeout => "Connection Timeout";

    /// <summary>The reset removes all that an error leaves.</summary>
    internal override SessionResidue LeftByError => SessionResidue.Objects;

    /// <summary>Whether sessions with prepared statements are kept, with the provider's version that is loaded.</summary>
    internal static bool UnpreparesSessions => SessionProperty is not null && UnprepareMethod is not null;

    /// <summary>Whether the end of an idle connection is noticed before it is rented, with the provider's version that is loaded.</summary>
    internal static bool SeesEnds => SessionProperty is not null && SocketField is not null;

    /// <summary>
    /// A server says nothing to a session that asks nothing, but for why it ends it. Looking costs a call of the system, and no wait.
    /// </summary>
    internal override bool HasEnded(object? remembered) =>
        remembered is InitialState { Socket: { } socket } && socket.Poll(0, SelectMode.SelectRead);

    /// <summary>
    /// The reset removes all but one thing. MariaDB breaks a session that it resets while a distributed transaction is prepared on it: from
    /// then on it refuses each table of InnoDB (1031), and no variable tells.
    /// </summary>
    internal override SessionResidue FindResidue(string text) =>
        MayPrepareXa(text) ? SessionResidue.Anything : SessionResidue.Objects;

    public override bool Reset(DbConnection connection, DbSessionInfo session) => throw new NotSupportedException(
        "MySqlConnector resets a session only asynchronously: call ResetAsync. A pool does so in the background.");

    public override async ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken)
    {
        if (session.Remembered is not InitialState initial || (session.HasPrepared && initial.Unprepare is null)
            || session.Residue == SessionResidue.Anything)
        {
            return false;
        }

        if (session.WasLent)
        {
            // Its texts were not seen: this throws where a distributed transaction is left, before the reset could do harm.
            await ExecuteAsync(isAsync: true, connection, Rollback, cancellationToken).ConfigureAwait(false);
        }

        await initial.Reset(cancellationToken).ConfigureAwait(false);
        initial.Unprepare?.Invoke();
        if (session.WasLent)
        {
            // A transaction that a renter of the provider's connection left is over, and the provider does not know it: then this throws.
            await ProveIdleAsync(isAsync: true, connection, cancellationToken).ConfigureAwait(false);
        }

        return await IsInPlaceAsync(connection, initial, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Asks for what the reset must find again: one round trip.</summary>
    internal override async ValueTask<object?> RememberAsync(
        bool isAsync, DbConnection connection, bool isInitialized, CancellationToken cancellationToken)
    {
        if (ConnectionType?.IsInstanceOfType(connection) != true)
        {
            throw new NotSupportedException(
                $"{nameof(DbAdapter)}.{nameof(MySql)} is for connections of MySqlConnector, not for {connection.GetType()}.");
        }

        Func<CancellationToken, ValueTask> reset = BindReset(ResetMethod, connection);
        string sql = Place;
        SessionPlace place;
        try
        {
            place = await ReadPlaceAsync(isAsync, connection, sql, cancellationToken).ConfigureAwait(false);
        }
        catch (DbException e) when (connection.State == ConnectionState.Open && IsUnknownFunction(e))
        {
            sql = PlaceWithoutRoles;
            place = await ReadPlaceAsync(isAsync, connection, sql, cancellationToken).ConfigureAwait(false);
        }

        object? session = SessionProperty?.GetValue(connection);
        return new InitialState(
            reset,
            session is null ? null : Bind<Action>(UnprepareMethod, session),
            session is null ? null : SocketField?.GetValue(session) as Socket,
            $"{Charset}; {sql}",
            place);
    }

    /// <summary>Binds the provider's reset to a connection.</summary>
    /// <exception cref="NotSupportedException">The provider has none of this form.</exception>
    internal static Func<CancellationToken, ValueTask> BindReset(MethodInfo? method, object connection) =>
        Bind<Func<CancellationToken, ValueTask>>(method, connection) ?? throw new NotSupportedException(
            $"{connection.GetType().Assembly.GetName()} has no method ValueTask ResetConnectionAsync(CancellationToken), so that the pool "
                + $"cannot reset its sessions: use version 2.x of MySqlConnector, or {nameof(PooledDbOptions)}."
                + $"{nameof(PooledDbOptions.Adapter)} = {nameof(DbAdapter)}.{nameof(Generic)}, which resets transactions only.");

    internal override ValueTask<bool> ValidateAsync(
        bool isAsync, DbConnection connection, int timeLimit, CancellationToken cancellationToken) =>
        SelectOneAsync(isAsync, connection, timeLimit, cancellationToken);

    internal override Exception DisposedReader() => ClosedReader();

    internal override Exception ClosedReader() => new InvalidOperationException("Can't call this method when MySqlDataReader is closed.");

    /// <summary>The session is as new, so that only the server refuses writes.</summary>
    internal override async ValueTask<bool> WritesAsync(bool isAsync, DbConnection connection, CancellationToken cancellationToken)
    {
        using DbCommand command = connection.CreateCommand();
        command.CommandText = RefusesWrites;
        object? refusing = isAsync
            ? await command.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false)
            : command.ExecuteScalar();
        return refusing is null;
    }

    /// <summary>
    /// By the server's number. A command that took too long has none, and its error no cause: it says nothing of the server. A connection
    /// that has ended says nothing of the others, which are looked at before they are rented.
    /// </summary>
    public override DbErrorKind Classify(Exception exception, DbConnection connection)
    {
        if (exception is DbException && exception.Data[ServerErrorCode] is { } code
            && Classify(Convert.ToInt32(code, CultureInfo.InvariantCulture), exception.Message) is { } told)
        {
            return OfOpen(told, connection);
        }

        DbErrorKind kind = base.Classify(exception, connection);
        return kind == DbErrorKind.Server && SeesEnds && IsEnd(exception) ? DbErrorKind.Session : kind;
    }

    /// <summary>Whether a text has the word XA, in whatever place, and PREPARE somewhere.</summary>
    private static bool MayPrepareXa(string text)
    {
        if (!text.Contains("PREPARE", StringComparison.OrdinalIgnoreCase))
        {
            return false;
        }

        for (int at = 0; (at = text.IndexOf("XA", at, StringComparison.OrdinalIgnoreCase)) >= 0; at += 2)
        {
            if ((at == 0 || !IsOfWord(text[at - 1])) && (at + 2 == text.Length || !IsOfWord(text[at + 2])))
            {
                return true;
            }
        }

        return false;

        static bool IsOfWord(char letter) => char.IsAsciiLetter(letter) || letter == '_'; // a digit may end /*!50000
    }

    /// <summary>What a number of the server means, where its SQLSTATE says nothing or something else.</summary>
    private static DbErrorKind? Classify(int code, string message) => code switch
    {
        1053 or 1077 or 1079 => DbErrorKind.Server, // it shuts down
        1159 or 1161 or 1927 or 4031 => DbErrorKind.Session, // the server waited for too long; KILL has ended this one
        1031 => DbErrorKind.Session, // it may be one that the server has broken: FindResidue
        1040 or 1203 or 1226 => DbErrorKind.Exhausted, // too many connections, of all or of one user
        1820 or 1862 => DbErrorKind.Credentials, // the password has expired
        1792 or 1836 => DbErrorKind.ReadOnlyServer,
        ForbiddenBySetting when message.Contains("read-only", StringComparison.Ordinal) => DbErrorKind.ReadOnlyServer,
        _ => null,
    };

    /// <summary>A procedure may raise any number, and a limit of statements refuse one: the session is open then.</summary>
    private static DbErrorKind OfOpen(DbErrorKind kind, DbConnection connection) =>
        connection.State != ConnectionState.Open ? kind
        : kind == DbErrorKind.Server ? DbErrorKind.Session
        : kind == DbErrorKind.Exhausted ? DbErrorKind.Statement
        : kind;

    /// <summary>
    /// Whether a server without roles says that it knows no such function, in one of its ways: any other error must not make the pool blind
    /// to roles.
    /// </summary>
    private static bool IsUnknownFunction(DbException exception) =>
        exception.Data[ServerErrorCode] is { } code && Convert.ToInt32(code, CultureInfo.InvariantCulture) is 1046 or 1064 or 1305 or 1630;

    /// <summary>
    /// Whether the server has ended the connection in order. One that was reset may be one of many to a server that is gone, which do not
    /// know it yet.
    /// </summary>
    private static bool IsEnd(Exception exception) =>
        exception is EndOfStreamException || (exception.InnerException is { } inner && IsEnd(inner));

    private static T? Bind<T>(MethodInfo? method, object target)
        where T : Delegate =>
        method is null ? null : Delegate.CreateDelegate(typeof(T), target, method, throwOnBindFailure: false) as T;

    private static async ValueTask<bool> IsInPlaceAsync(DbConnection connection, InitialState initial, CancellationToken cancellationToken)
    {
        SessionPlace place =
            await ReadPlaceAsync(isAsync: true, connection, initial.Restore, cancellationToken).ConfigureAwait(false);
        if (place == initial.Place)
        {
            return true;
        }

        if (place.Role != initial.Place.Role || place.User != initial.Place.User || initial.Place.Database is not { } database)
        {
            return false;
        }

        await connection.ChangeDatabaseAsync(database, cancellationToken).ConfigureAwait(false);
        return true;
    }

    private static async ValueTask<SessionPlace> ReadPlaceAsync(
        bool isAsync, DbConnection connection, string sql, CancellationToken cancellationToken)
    {
        using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        DbDataReader reader = isAsync ? await command.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false) : command.ExecuteReader();
        try
        {
            _ = isAsync ? await reader.ReadAsync(cancellationToken).ConfigureAwait(false) : reader.Read();
            return new SessionPlace(
                reader.IsDBNull(0) ? null : reader.GetString(0),
                reader.IsDBNull(1) ? null : reader.GetString(1),
                reader.GetString(2));
        }
        finally
        {
            await reader.DisposeAsync(isAsync).ConfigureAwait(false);
        }
    }

    /// <summary>What the protocol's reset leaves as it is.</summary>
    /// <param name="Database">The current database, or null.</param>
    /// <param name="Role">The current role, or null.</param>
    /// <param name="User">As whom statements run.</param>
    private readonly record struct SessionPlace(string? Database, string? Role, string User);

    /// <summary>What a session was when it was new.</summary>
    /// <param name="Reset">Sends the protocol's reset on its connection.</param>
    /// <param name="Unprepare">Makes the provider forget what it has prepared; null where that cannot be done.</param>
    /// <param name="Socket">Its connection; null where that cannot be seen.</param>
    /// <param name="Restore">Sets the charset, and asks for the place.</param>
    /// <param name="Place">Where it was.</param>
    private sealed record InitialState(
        Func<CancellationToken, ValueTask> Reset, Action? Unprepare, Socket? Socket, string Restore, SessionPlace Place);
}
