namespace Tidepool.Data.Tests.Support;

/// <summary>One operation of a random test.</summary>
/// <param name="Kind">What; see <see cref="Actor"/>.</param>
/// <param name="Text">A statement.</param>
/// <param name="Number">A small number.</param>
/// <param name="IsAsync">Whether the asynchronous form is used.</param>
internal sealed record Operation(string Kind, string Text, int Number, bool IsAsync)
{
    private static readonly string[] Kinds =
    [
        "open", "open", "open", "close", "dispose", "state", "describe", "schema",
        "begin", "begin", "commit", "rollback", "save", "back", "release", "endtx", "tx",
        "command", "command", "command", "text", "settx", "unset", "set", "timeout", "prepare", "query", "query",
        "scalar", "scalar", "endcommand",
        "reader", "reader", "reader", "rread", "rread", "rread", "rread", "rnext", "rvalue", "rint", "rtext", "rfield",
        "rnull", "rmeta", "rcount", "rname",
        "rvalues", "rschema", "rcolumns", "rall", "rclose", "rdispose", "rdispose",
    ];

    /// <summary>Statements; each table has a column a.</summary>
    private static readonly string[] Texts =
    [
        "SELECT a, b, 'x' FROM t ORDER BY a", "SELECT a, b FROM t WHERE a = @p", "SELECT 1 AS a; SELECT 'two' AS a",
        "INSERT INTO t (a, b) VALUES (@p, 'new')",
        "UPDATE t SET b = 'changed' WHERE a < 3", "DELETE FROM t WHERE a = 2", "SELECT count(*) AS a FROM t",
        "SELECT nothing FROM t", "SELEC 1", "",
        "SELECT NULL AS a, 5, 'z'", "INSERT INTO t (a, b) VALUES (1, 'again')", "SELECT a FROM t WHERE 1 = 0",
        "CREATE TABLE IF NOT EXISTS u (a int)", "INSERT INTO u (a) VALUES (1); SELECT a FROM u", "DROP TABLE u",
    ];

    internal static Operation Draw(Random random, bool hasBatches)
    {
        string kind = hasBatches && random.Next(15) == 0
            ? random.Next(2) == 0 ? "batch" : "runbatch"
            : Kinds[random.Next(Kinds.Length)];
        return new Operation(kind, Texts[random.Next(Texts.Length)], random.Next(12), random.Next(2) == 0);
    }
}
