using System.Data.Common;
using System.Diagnostics;
using System.Globalization;
using Microsoft.Data.Sqlite;
using Tidepool.Data.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Data.Tests;

/// <summary>
/// What a renter may have left on a session of SQLite is read from the texts that it has executed; nothing that it leaves is missed.
/// </summary>
public sealed class SqliteResidueTests(ITestOutputHelper output) : IDisposable
{
    private const string Content =
        "CREATE TABLE kept (a INTEGER PRIMARY KEY, b); INSERT INTO kept VALUES (1, 'one'), (2, 'two'); CREATE TABLE log (a); "
        + "CREATE TRIGGER told AFTER UPDATE ON kept BEGIN INSERT INTO log VALUES (new.a); END; CREATE VIEW seen AS SELECT * FROM kept";

    /// <summary>Each word at a place where blanks, comments and another case may stand.</summary>
    private static readonly string[] Leaks =
    [
        "PRAGMA foreign_keys = 0", "PRAGMA query_only = 1", "PRAGMA cache_size = 7", "PRAGMA case_sensitive_like = 1",
        "PRAGMA journal_mode = MEMORY",
        "PRAGMA max_page_count = 500", "PRAGMA journal_size_limit = 5", "PRAGMA main . synchronous = 0",
        "PRAGMA temp_store ( 2 )", "PRAGMA recursive_triggers ( 1 )",
        "PRAGMA busy_timeout = 17", "PRAGMA secure_delete = 1", "PRAGMA temp . cache_size = 7",
        "PRAGMA temp . max_page_count = 100", "PRAGMA page_size = 8192 ; VACUUM",
        "ATTACH ':memory:' AS optimize ; PRAGMA optimize . foreign_keys = 0", "PRAGMA temp . user_version = 5",
        "PRAGMA temp . application_id = 7",
        "CREATE TEMP TABLE pragma_database_list ( name ) ; ATTACH ':memory:' AS leaked ; CREATE TABLE leaked . secret AS SELECT 'x' AS a",
        "CREATE TEMP TABLE shot_at ( a ) ; CREATE TEMP TRIGGER shot AFTER INSERT ON shot_at BEGIN SELECT 1 ; END",
        "CREATE VIRTUAL TABLE temp . words USING fts4 ( a )",
        "PRAGMA foreign_keys", "PRAGMA main . cache_size ;", "PRAGMA table_info ( kept )", "PRAGMA index_list = 'kept'",
        "PRAGMA user_version = 5", "PRAGMA journal_mode", "PRAGMA synchronous ; PRAGMA cache_size = 9",
        "CREATE TEMP TABLE scratch ( a )", "CREATE TEMPORARY VIEW looked AS SELECT 1",
        "CREATE TEMP TRIGGER shot AFTER INSERT ON kept BEGIN DELETE FROM log ; END",
        "CREATE TABLE temp . scratch ( a )", "CREATE TABLE IF NOT EXISTS temp . other AS SELECT 5 AS a",
        "CREATE VIRTUAL TABLE temp . found USING fts5 ( a )",
        "ATTACH ':memory:' AS other", "ATTACH DATABASE ':memory:' AS other ; CREATE TABLE other . inside ( a )",
        "BEGIN", "BEGIN IMMEDIATE ; INSERT INTO log VALUES ( 1 )", "SAVEPOINT here",
        "SAVEPOINT here ; UPDATE kept SET b = 'new' ; RELEASE here ; SAVEPOINT there",
        "BEGIN ; ROLLBACK ; SAVEPOINT here", "BEGIN ; COMMIT ; BEGIN EXCLUSIVE", "BEGIN ; END ; SAVEPOINT here",
        "INSERT INTO log VALUES ( 1 )", "INSERT OR ROLLBACK INTO kept VALUES ( 1 , 2 )",
        "REPLACE INTO kept VALUES ( 1 , 'again' )", "UPDATE kept SET b = 'new'",
        "DELETE FROM log", "WITH x ( a ) AS ( SELECT 9 ) INSERT INTO log SELECT a FROM x",
        "WITH x ( a ) AS ( SELECT 1 ) UPDATE kept SET b = 3 WHERE a IN x",
        "INSERT INTO log VALUES ( 1 ) RETURNING a", "SELECT 1 ; INSERT INTO log VALUES ( 7 )",
        "WITH x ( a ) AS ( SELECT 1 ) DELETE FROM log", "INSERT INTO kept ( b ) VALUES ( 'x' ) ON CONFLICT DO NOTHING",
        "SELECT 1", "SELECT * FROM seen", "EXPLAIN QUERY PLAN SELECT 1", "VALUES ( 1 )",
        "SELECT CASE WHEN 1 THEN 'BEGIN' END", "nothing of this", "SELECT * FROM pragma_table_info ( 'kept' )",
    ];

    private readonly SqliteFile _file = new();

    public void Dispose() => _file.Dispose();

    [Fact]
    public void Whatever_was_executed_the_next_holder_sees_what_a_new_connection_sees()
    {
        int seed = Environment.GetEnvironmentVariable("TIDEPOOL_TEST_SEED") is { } given
            ? int.Parse(given, CultureInfo.InvariantCulture)
            : Random.Shared.Next();
        output.WriteLine($"seed {seed} (repeat with TIDEPOOL_TEST_SEED={seed})");
        var random = new Random(seed);
        using (SqliteConnection bare = _file.OpenBare())
        {
            bare.Run(Content);
        }

        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        int shared = 0;
        for (int round = 0; round < 400; round++)
        {
            List<string> texts = [];
            object session;
            using (PooledDbConnection connection = pool.OpenConnection())
            {
                session = connection.Native;
                for (int i = random.Next(1, 4); i > 0; i--)
                {
                    // Each of them at least twice.
                    string text = Decorate(
                        random,
                        Leaks[round < 2 * Leaks.Length && i == 1 ? round % Leaks.Length : random.Next(Leaks.Length)]);
                    texts.Add(text);
                    Execute(connection, text, random.Next(3));
                }
            }

            using PooledDbConnection next = pool.OpenConnection();
            shared += ReferenceEquals(session, next.Native) ? 1 : 0;
            using SqliteConnection fresh = _file.OpenBare();
            string expected = Look(fresh);
            string actual = Look(next);
            Assert.True(
                expected == actual,
                $"seed {seed}, round {round}: after\n{string.Join("\n--\n", texts)}\na new "
                    + $"connection sees\n{expected}\nand the next holder\n{actual}");
        }

        output.WriteLine($"{shared} of 400 sessions were used again");
        Assert.True(shared > 100, "the sessions were used again");
        pool.Validate();
    }

    [Theory]
    [InlineData("", SessionResidue.Nothing)]
    [InlineData("SELECT * FROM t WHERE a = @p", SessionResidue.Nothing)]
    [InlineData("SELECT created_at, updated, undeleted, CASE a WHEN 1 THEN 2 END FROM beginnings", SessionResidue.Nothing)]
    [InlineData("WITH x AS (SELECT 1) SELECT * FROM x", SessionResidue.Nothing)]
    [InlineData("insert into t values (1)", SessionResidue.Rows)]
    [InlineData("WITH x AS (SELECT 1)DELETE FROM t", SessionResidue.Rows)]
    [InlineData("SELECT 1;\nUpDaTe t SET a = 1", SessionResidue.Rows)]
    [InlineData("SELECT replace(a, 'x', 'y') FROM t", SessionResidue.Rows)] // one look too many
    [InlineData("INSERT INTO t VALUES (1); BEGIN", SessionResidue.Objects)]
    [InlineData("/**/CREATE TEMP TABLE x (a)", SessionResidue.Objects)]
    [InlineData("SAVEPOINT a", SessionResidue.Objects)]
    [InlineData("SELECT 'drop'", SessionResidue.Objects)] // one look too many
    [InlineData("SELECT 1;PRAGMA cache_size=1", SessionResidue.Anything)]
    [InlineData("--x\n\fpragma cache_size=1", SessionResidue.Anything)]
    [InlineData("\uFEFFPRAGMA cache_size=1", SessionResidue.Anything)] // newer versions skip the mark
    [InlineData("begin;pragma cache_size=1", SessionResidue.Anything)]
    [InlineData("SELECT * FROM \"pragma_optimize\"(1)", SessionResidue.Objects)]
    [InlineData("PRAGMA foreign_keys", SessionResidue.Objects)]
    [InlineData("pragma\tMAIN . Foreign_Keys\n;SELECT 1", SessionResidue.Objects)]
    [InlineData("PRAGMA table_info(t)", SessionResidue.Objects)]
    [InlineData("PRAGMA main.table_info = t", SessionResidue.Objects)]
    [InlineData("PRAGMA user_version = 7", SessionResidue.Objects)]
    [InlineData("PRAGMA journal_mode = WAL", SessionResidue.Objects)]
    [InlineData("PRAGMA journal_mode = wal2", SessionResidue.Anything)]
    [InlineData("PRAGMA journal_mode = 'wal'", SessionResidue.Anything)] // a session too many
    [InlineData("PRAGMA journal_mode = memory", SessionResidue.Anything)]
    [InlineData("PRAGMA foreign_keys/**/= 0", SessionResidue.Anything)]
    [InlineData("PRAGMA foreign_keys--\n(0)", SessionResidue.Anything)]
    [InlineData("PRAGMA main.foreign_keys(0)", SessionResidue.Anything)]
    [InlineData("PRAGMA table_info.foreign_keys = 0", SessionResidue.Anything)]
    [InlineData("PRAGMA table_info(t);PRAGMA foreign_keys=0", SessionResidue.Anything)]
    [InlineData("PRAGMA foreign_keys\0", SessionResidue.Anything)] // a session too many
    [InlineData("PRAGMA schema_version = 7", SessionResidue.Anything)]
    [InlineData("PRAGMA \"foreign_keys\"", SessionResidue.Anything)] // a session too many
    [InlineData("PRAGMA of_a_file_system", SessionResidue.Anything)]
    [InlineData("PRAGMA", SessionResidue.Anything)]
    [InlineData("PRAGMA optimize/**/.foreign_keys=0", SessionResidue.Anything)]
    [InlineData("PRAGMA table_info--x\n.ignore_check_constraints=1", SessionResidue.Anything)]
    [InlineData("PRAGMA table_info \v.query_only=1", SessionResidue.Anything)]
    [InlineData("PRAGMA temp.user_version = 5", SessionResidue.Anything)]
    [InlineData("PRAGMA temp.journal_mode = WAL", SessionResidue.Anything)]
    [InlineData("SELECT load_extension('x')", SessionResidue.Anything)]
    [InlineData("SELECT [fts3_tokenizer]('x', @p)", SessionResidue.Anything)]
    [InlineData("VACUUM", SessionResidue.Anything)]
    [InlineData("DETACH archive", SessionResidue.Anything)]
    internal void A_text_is_read_by_its_words(string text, SessionResidue expected) =>
        Assert.Equal(expected, DbAdapter.Sqlite.FindResidue(text));

    [Fact]
    public void Every_word_that_begins_a_statement_and_leaves_something_is_known()
    {
        // The first words of SQLite's grammar, as the provider's library takes them.
        string[] harmless = ["SELECT", "VALUES", "WITH", "EXPLAIN", "END"];
        using SqliteConnection bare = _file.OpenBare();
        const string firstWords =
            "ALTER ANALYZE ATTACH BEGIN COMMIT CREATE DELETE DETACH DROP END EXPLAIN INSERT PRAGMA REINDEX RELEASE REPLACE ROLLBACK " +
            "SAVEPOINT SELECT UPDATE VACUUM VALUES WITH";
        foreach (string word in firstWords.Split(' '))
        {
            Assert.Equal(harmless.Contains(word), DbAdapter.Sqlite.FindResidue(word) == SessionResidue.Nothing);
        }
    }

    [Fact]
    public void A_view_changes_no_setting_although_its_text_is_executed_unseen()
    {
        using SqliteConnection bare = _file.OpenBare();
        string before = Look(bare);
        int read = 0;
        foreach (string setting in SqliteWords.Settings.Concat(SqliteWords.Questions))
        {
            foreach (string argument in new[] { "", "(5)", "('off')", "('main', 5)" })
            {
                try
                {
                    bare.Run($"CREATE VIEW asked AS SELECT * FROM pragma_{setting}{argument}");
                    bare.Run("SELECT * FROM asked");
                    read++;
                }
                catch (SqliteException)
                {
                    // It takes no argument.
                }

                bare.Run("DROP VIEW IF EXISTS asked");
            }
        }

        output.WriteLine($"{read} views could be read");
        Assert.True(read > 10, "views were read");
        Assert.Equal(before, Look(bare));
    }

    [Fact]
    public void A_query_that_merges_an_index_leaves_nothing()
    {
        using (SqliteConnection bare = _file.OpenBare())
        {
            bare.Run("CREATE VIRTUAL TABLE found USING fts4 (a)");
            bare.Run("INSERT INTO found VALUES ('one')");
            bare.Run("INSERT INTO found VALUES ('two')");
        }

        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            connection.Run("SELECT optimize(found) FROM found LIMIT 1");
        }

        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal("0/0", next.Read<string>("SELECT changes() || '/' || last_insert_rowid()"));
    }

    [Fact]
    public void A_session_that_left_nothing_is_not_asked_and_one_of_which_nothing_is_known_is_ended()
    {
        using SqliteConnection bare = _file.OpenBare();
        DbAdapter adapter = DbAdapter.Sqlite;
        object? remembered = adapter.Remember(bare);
        bare.Run("CREATE TEMP TABLE scratch (a)");
        Assert.True(adapter.Reset(bare, new DbSessionInfo(false, false, remembered) { Residue = SessionResidue.Nothing }));
        Assert.Equal(1, bare.Read<int>("SELECT count(*) FROM sqlite_temp_master"));
        Assert.True(adapter.Reset(bare, new DbSessionInfo(false, false, remembered) { Residue = SessionResidue.Objects }));
        Assert.Equal(0, bare.Read<int>("SELECT count(*) FROM sqlite_temp_master"));
        Assert.False(adapter.Reset(bare, new DbSessionInfo(false, false, remembered)));
    }

    [Fact]
    public void A_session_with_functions_of_others_is_reset_whatever_was_executed()
    {
        using SqliteConnection bare = _file.OpenBare();
        bare.CreateFunction("anything", static () => 1);
        DbAdapter adapter = DbAdapter.Sqlite;
        object? remembered = adapter.Remember(bare);
        bare.Run("CREATE TEMP TABLE scratch (a)");
        Assert.True(adapter.Reset(bare, new DbSessionInfo(false, false, remembered) { Residue = SessionResidue.Nothing }));
        Assert.Equal(0, bare.Read<int>("SELECT count(*) FROM sqlite_temp_master"));
    }

    [Fact]
    public async Task Opening_waits_for_nobody_who_holds_the_file()
    {
        using SqliteConnection holder = _file.OpenBare();
        holder.Run("CREATE TABLE t (a); BEGIN EXCLUSIVE");
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, CreateTimeout = TimeSpan.FromMinutes(2) },
        });
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        await using DbCommand command = connection.CreateCommand();
        (command.CommandText, command.CommandTimeout) = ("SELECT count(*) FROM t", 1);
        Assert.Contains("locked", Assert.Throws<SqliteException>(() => command.ExecuteScalar()).Message, StringComparison.Ordinal);
        holder.Run("ROLLBACK");
        Assert.Equal(0L, command.ExecuteScalar());
    }

    [Theory]
    [InlineData("INSERT INTO t VALUES (1)")]
    [InlineData("SELECT * FROM t")]
    [InlineData("BEGIN")]
    [InlineData("nothing of this")]
    public async Task Closing_does_not_wait_long_for_somebody_who_holds_the_file(string text)
    {
        using SqliteConnection holder = _file.OpenBare();
        holder.Run("CREATE TABLE t (a); BEGIN EXCLUSIVE");
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        PooledDbConnection connection = await pool.OpenConnectionAsync();
        DbCommand command = connection.CreateCommand();
        (command.CommandText, command.CommandTimeout) = (text, 1);
        try
        {
            await command.ExecuteNonQueryAsync();
        }
        catch (SqliteException)
        {
            // The file is locked, or the text is none.
        }

        long start = Stopwatch.GetTimestamp();
        await connection.DisposeAsync();
        Assert.True(Stopwatch.GetElapsedTime(start) < TimeSpan.FromSeconds(20), "The provider would wait for 30 s.");
        pool.Settle();
        Assert.Equal(0, pool.GetStatistics().Leased);
        holder.Run("ROLLBACK");
        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal(0, next.Read<int>("SELECT count(*) FROM t"));
    }

    [Fact]
    public void What_takes_something_along_when_it_is_dropped_costs_no_session()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            connection.Run(
                "CREATE TEMP TABLE scratch (a); CREATE TEMP TRIGGER shot AFTER INSERT ON scratch BEGIN SELECT 1; END; CREATE VIRTUAL "
                    + "TABLE temp.words USING fts4(a)");
        }

        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(0, next.Read<int>("SELECT count(*) FROM sqlite_temp_master"));
        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [Fact]
    public void A_statement_that_fails_or_only_asks_for_a_setting_costs_no_session()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        string[] texts =
        [
            "SELECT nothing", "PRAGMA table_info(t)", "PRAGMA user_version = 3", "PRAGMA cache_size", "PRAGMA journal_mode = WAL",
            "SELECT * FROM pragma_table_info('t')",
        ];
        foreach (string text in texts)
        {
            using PooledDbConnection connection = pool.OpenConnection();
            Execute(connection, text, 1);
        }

        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [Fact]
    public void A_text_that_was_changed_is_read_again_and_an_error_may_leave_objects()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1, ResetMode = ResetMode.None } });
        using PooledDbConnection connection = pool.OpenConnection();
        DbSession session = connection.Enter()!;
        using DbCommand command = connection.CreateCommand();
        (string Text, SessionResidue Residue)[] statements =
        [
            ("SELECT 1", SessionResidue.Nothing),
            ("CREATE TABLE t (a)", SessionResidue.Objects),
            ("SELECT 2", SessionResidue.Nothing),
            ("DELETE FROM t", SessionResidue.Rows),
        ];
        foreach ((string text, SessionResidue residue) in statements)
        {
            for (int i = 0; i < 2; i++)
            {
                session.Renew();
                command.CommandText = i == 0 || residue != SessionResidue.Objects ? text : "SELECT 3";
                command.ExecuteNonQuery();
                Assert.Equal(command.CommandText == text ? residue : SessionResidue.Nothing, session.Residue);
            }
        }

        session.Renew();
        command.CommandText = "SELECT nothing";
        Assert.Throws<SqliteException>(() => command.ExecuteScalar());
        Assert.Equal(SessionResidue.Objects, session.Residue);
        connection.Exit(session);
    }

    private static void Execute(PooledDbConnection connection, string text, int way)
    {
        using DbCommand command = connection.CreateCommand();
        command.CommandText = text;
        try
        {
            switch (way)
            {
                case 0:
                    command.ExecuteNonQuery();
                    break;
                case 1:
                    command.ExecuteScalarAsync().GetAwaiter().GetResult();
                    break;
                default:
                    DbDataReader reader = command.ExecuteReader(); // left to the connection
                    reader.Read();
                    break;
            }
        }
        catch (SqliteException)
        {
            // Many do not fit what was done before.
        }
    }

    /// <summary>Writes a statement in another case, with other blanks, with comments.</summary>
    private static string Decorate(Random random, string text)
    {
        string[] words = text.Split(' ');
        for (int i = 0; i < words.Length; i++)
        {
            if (!words[i].Contains('\'', StringComparison.Ordinal))
            {
                words[i] = string.Concat(
                    words[i].Select(letter => random.Next(2) == 0 ? char.ToUpperInvariant(letter) : char.ToLowerInvariant(letter)));
            }
        }

        string[] blanks = [" ", "\t", "\r\n", "\f", " /* ' */ ", "/**/", " -- \" ;\n", "  "];
        string[] before = ["", "", " ", "\n", ";", "; ;", "/* x */", "-- y\n", "SELECT 5;", "SELECT 'a;b';"];
        string start = before[random.Next(before.Length)];
        string statement = string.Join("", words.Select((word, i) => i == 0 ? word : blanks[random.Next(blanks.Length)] + word));
        return start + statement + (random.Next(3) == 0 ? ";" : "");
    }

    /// <summary>All that a holder can see of its session.</summary>
    private static string Look(DbConnection connection)
    {
        List<string> seen = [];
        Add("SELECT changes() || '/' || last_insert_rowid()"); // before other statements change them
        Add("SELECT group_concat(type || ' ' || name) FROM sqlite_temp_master");
        Add("SELECT group_concat(name) FROM pragma_database_list WHERE name <> 'temp'"); // SQLite opens it for its first use, and keeps it
        Add("SELECT 'a' LIKE 'A'");
        Add("BEGIN; ROLLBACK");
        Add("PRAGMA temp.max_page_count");
        Add("PRAGMA temp.user_version");
        Add("PRAGMA temp.application_id");
        Add("PRAGMA temp.cache_size"); // 0 before its first use
        seen[^1] = seen[^1].Replace(": 0", ": -2000", StringComparison.Ordinal);
        foreach (string setting in SqliteWords.Settings)
        {
            Add("PRAGMA " + setting);
        }

        return string.Join('\n', seen);

        void Add(string sql)
        {
            using DbCommand command = connection.CreateCommand();
            command.CommandText = sql;
            string value;
            try
            {
                value = Convert.ToString(command.ExecuteScalar(), CultureInfo.InvariantCulture)!;
            }
            catch (SqliteException e)
            {
                value = e.Message;
            }

            seen.Add($"{sql}: {value}");
        }
    }
}
