using System.Data.Common;
using System.Globalization;
using System.Reflection;

namespace Tidepool.Data;

/// <summary>
/// Puts the reset in front of what a connection of Npgsql sends next, as the provider's own pool does. It needs members that are internal
/// to the provider; with a version that has others nothing is put there, and the caller resets in the usual way. By name, because the
/// library does not refer to the provider; trimming keeps the members, because the names are literals.
/// </summary>
internal static class NpgsqlPrefix
{
    private const BindingFlags Inside = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

    /// <summary>What the server answers to the message: that the command is complete, and that it is ready.</summary>
    private const int Answers = 2;

    /// <summary>The message of the protocol: a simple query, its length, its text, a zero.</summary>
    private static readonly byte[] Message = [(byte)'Q', 0, 0, 0, 16, .. "DISCARD ALL\0"u8];

    private static readonly PropertyInfo? Connector = Type.GetType("Npgsql.NpgsqlConnection, Npgsql")?.GetProperty("Connector", Inside);

    private static readonly PropertyInfo? IsReady =
        Type.GetType("Npgsql.Internal.NpgsqlConnector, Npgsql")?.GetProperty("IsReady", Inside);

    private static readonly PropertyInfo? Pending =
        Type.GetType("Npgsql.Internal.NpgsqlConnector, Npgsql")?.GetProperty("PendingPrependedResponses", Inside);

    private static readonly PropertyInfo? Transaction =
        Type.GetType("Npgsql.Internal.NpgsqlConnector, Npgsql")?.GetProperty("TransactionStatus", Inside);

    private static readonly PropertyInfo? Strings =
        Type.GetType("Npgsql.Internal.NpgsqlConnector, Npgsql")?.GetProperty("UseConformingStrings", Inside);

    private static readonly PropertyInfo? Statements =
        Type.GetType("Npgsql.Internal.NpgsqlConnector, Npgsql")?.GetProperty("PreparedStatementManager", Inside);

    private static readonly FieldInfo? Prepared =
        Type.GetType("Npgsql.PreparedStatementManager, Npgsql")?.GetField("NumPrepared", Inside);

    private static readonly MethodInfo? Prepend =
        Type.GetType("Npgsql.Internal.NpgsqlConnector, Npgsql")?.GetMethod("PrependInternalMessage", Inside, [typeof(byte[]), typeof(int)]);

    /// <summary>Whether the provider's version that is loaded has the members.</summary>
    internal static bool IsKnown =>
        Connector is not null && IsReady is not null && Pending is not null && Transaction is not null && Strings is not null
        && Statements is not null && Prepared is not null && Prepend is not null;

    /// <summary>Puts the reset there; sends nothing.</summary>
    /// <param name="connection">An open connection of the provider, used by no other thread.</param>
    /// <returns>
    /// False where it cannot stand there: a reader or a transaction is open; the provider has prepared statements, which the reset would
    /// end behind its back; something waits to be sent already, such as the reset of a renter who asked nothing; or strings have escapes
    /// (<c>standard_conforming_strings</c>), and the provider would read the next renter's text so before it hears of the reset.
    /// </returns>
    internal static bool TryReset(DbConnection connection)
    {
        if (!IsKnown || !Connector!.DeclaringType!.IsInstanceOfType(connection) || Connector.GetValue(connection) is not { } connector
            || IsReady!.GetValue(connector) is not true || Pending!.GetValue(connector) is not 0
            || Convert.ToInt32(Transaction!.GetValue(connector), CultureInfo.InvariantCulture) != 'I'
            || Strings!.GetValue(connector) is not true
            || Prepared!.GetValue(Statements!.GetValue(connector)) is not 0)
        {
            return false;
        }

        Prepend!.Invoke(connector, [Message, Answers]);
        return true;
    }
}
