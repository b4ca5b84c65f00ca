using System.Buffers;
using System.Collections.Frozen;

namespace Tidepool.Data;

/// <summary>
/// Finds what an SQL text may leave on the SQLite session that executes it, by its words. Words in comments, strings and names count too,
/// which at worst costs a reset that was not needed. No keyword is missed: each is written in one way only, whatever its case.
/// </summary>
internal static class SqliteWords
{
    /// <summary>
    /// The first words of all statements that leave something, so without SELECT, VALUES, WITH, EXPLAIN, and END, which closes what another
    /// word has opened; and the functions that change a connection, or rows (optimize, which merges a full-text index).
    /// </summary>
    private static readonly FrozenDictionary<string, SessionResidue> Residue = new Dictionary<string, SessionResidue>
    {
        ["insert"] = SessionResidue.Rows,
        ["replace"] = SessionResidue.Rows,
        ["update"] = SessionResidue.Rows,
        ["delete"] = SessionResidue.Rows,
        ["optimize"] = SessionResidue.Rows,
        ["begin"] = SessionResidue.Objects,
        ["savepoint"] = SessionResidue.Objects,
        ["release"] = SessionResidue.Objects,
        ["commit"] = SessionResidue.Objects,
        ["rollback"] = SessionResidue.Objects,
        ["create"] = SessionResidue.Objects,
        ["alter"] = SessionResidue.Objects,
        ["drop"] = SessionResidue.Objects,
        ["attach"] = SessionResidue.Objects,
        ["detach"] = SessionResidue.Anything, // it may be one that was attached when the session was new, and what was made of it
        ["analyze"] = SessionResidue.Objects,
        ["reindex"] = SessionResidue.Objects,
        ["vacuum"] = SessionResidue.Anything,
        [Pragma] = SessionResidue.Anything, // unless what follows only asks
        ["load_extension"] = SessionResidue.Anything,
        ["fts3_tokenizer"] = SessionResidue.Anything,
        ["icu_load_collation"] = SessionResidue.Anything,
    }.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase);

    /// <summary>Pragmas that change no setting, whatever their argument: they ask, or change the file, which all sessions share.</summary>
    internal static readonly FrozenSet<string> Questions = new[]
    {
        "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "database_list",
        "collation_list", "function_list", "module_list", "pragma_list",
        "compile_options", "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check", "page_count",
        "freelist_count", "data_version",
        "user_version", "application_id", "optimize", "incremental_vacuum", "wal_checkpoint", "shrink_memory",
    }.ToFrozenSet(StringComparer.OrdinalIgnoreCase);

    /// <summary>Pragmas that ask for a setting where they have no argument.</summary>
    internal static readonly FrozenSet<string> Settings = new[]
    {
        "foreign_keys", "recursive_triggers", "synchronous", "cache_size", "temp_store", "busy_timeout", "query_only", "read_uncommitted",
        "ignore_check_constraints", "defer_foreign_keys", "automatic_index", "locking_mode", "legacy_alter_table",
        "reverse_unordered_selects",
        "secure_delete", "trusted_schema", "writable_schema", "cell_size_check", "full_column_names",
        "short_column_names", "page_size", "auto_vacuum", "encoding",
        JournalMode, "journal_size_limit", "max_page_count", "mmap_size", "analysis_limit", "checkpoint_fullfsync", "fullfsync",
        "wal_autocheckpoint", "count_changes", "threads", "cache_spill",
    }.ToFrozenSet(StringComparer.OrdinalIgnoreCase);

    /// <summary>Functions and kinds of tables of SQLite itself that count as added: builds differ in which they have.</summary>
    private static readonly FrozenSet<string> BuiltIns = new[]
    {
        "bm25", "highlight", "match", "matchinfo", "offsets", "optimize", "snippet", "fts3_tokenizer", "icu_load_collation",
        "fts3", "fts3tokenize", "fts4", "fts4aux", "fts5", "fts5vocab",
        "fts5_decode", "fts5_decode_none", "fts5_expr", "fts5_expr_tcl", "fts5_fold", "fts5_get_locale",
        "fts5_insttoken", "fts5_isalnum", "fts5_locale", "fts5_rowid", "fts5_source_id",
        "json", "json_array", "json_array_length", "json_each", "json_extract", "json_group_array", "json_group_object",
        "json_insert", "json_object",
        "json_patch", "json_quote", "json_remove", "json_replace", "json_set", "json_tree", "json_type", "json_valid",
        "rtree", "rtree_i32", "rtreecheck", "rtreedepth", "rtreenode", "dbstat", "sqlite_stmt",
    }.ToFrozenSet(StringComparer.OrdinalIgnoreCase);

    private static readonly SearchValues<string> Beginnings = SearchValues.Create([.. Residue.Keys], StringComparison.OrdinalIgnoreCase);
    private static readonly FrozenDictionary<string, SessionResidue>.AlternateLookup<ReadOnlySpan<char>> Lookup =
        Residue.GetAlternateLookup<ReadOnlySpan<char>>();
    private static readonly FrozenSet<string>.AlternateLookup<ReadOnlySpan<char>> QuestionLookup =
        Questions.GetAlternateLookup<ReadOnlySpan<char>>();
    private static readonly FrozenSet<string>.AlternateLookup<ReadOnlySpan<char>> SettingLookup =
        Settings.GetAlternateLookup<ReadOnlySpan<char>>();

    private const string Pragma = "pragma";
    private const string JournalMode = "journal_mode";
    private const string Blanks = " \t\r\n\f";

    /// <summary>Reads a text once, from its beginning to its end or to the first word after which nothing worse can follow.</summary>
    internal static SessionResidue Find(string text)
    {
        SessionResidue worst = SessionResidue.Nothing;
        for (int end = 0, step; worst != SessionResidue.Anything && (step = text.AsSpan(end).IndexOfAny(Beginnings)) >= 0;)
        {
            int start = end + step;
            end = start + 1;
            while (end < text.Length && IsOfWord(text[end]))
            {
                end++;
            }

            if ((start == 0 || !IsOfWord(text[start - 1]))
                && Of(text.AsSpan(start..end), text.AsSpan(end)) is var residue && residue > worst)
            {
                worst = residue;
            }
        }

        return worst;
    }

    /// <summary>Whether a function or a kind of table is part of SQLite.</summary>
    internal static bool IsBuiltIn(string name) => BuiltIns.Contains(name) || name.StartsWith("pragma_", StringComparison.Ordinal);

    private static SessionResidue Of(ReadOnlySpan<char> word, ReadOnlySpan<char> rest)
    {
        if (!word.StartsWith(Pragma, StringComparison.OrdinalIgnoreCase))
        {
            return Lookup.TryGetValue(word, out SessionResidue residue) ? residue : SessionResidue.Nothing;
        }

        // The tables by which pragmas are read, pragma_table_info and its like, exist only for those that set nothing so.
        return word.Length > Pragma.Length || IsQuery(rest) ? SessionResidue.Objects : SessionResidue.Anything;
    }

    /// <summary>
    /// Whether what follows the word <c>PRAGMA</c> is known to change no setting. Anything that is written in an unusual way is not.
    /// </summary>
    private static bool IsQuery(ReadOnlySpan<char> rest)
    {
        ReadOnlySpan<char> name = ReadWord(ref rest);
        if (rest is ['.', ..] && name.Equals("main", StringComparison.OrdinalIgnoreCase)) // those of temp are the session's
        {
            rest = rest[1..];
            name = ReadWord(ref rest);
        }

        return rest switch
        {
            [] or [';', ..] => QuestionLookup.Contains(name) || SettingLookup.Contains(name),
            ['(', ..] => QuestionLookup.Contains(name),
            ['=', ..] =>
                QuestionLookup.Contains(name) || (name.Equals(JournalMode, StringComparison.OrdinalIgnoreCase) && IsWal(rest[1..])),
            _ => false, // a comment, after which anything may follow
        };
    }

    /// <summary>This mode is the file's, and all sessions see it.</summary>
    private static bool IsWal(ReadOnlySpan<char> rest) => ReadWord(ref rest).Equals("wal", StringComparison.OrdinalIgnoreCase);

    /// <summary>The next word, perhaps empty; blanks around it are skipped.</summary>
    private static ReadOnlySpan<char> ReadWord(ref ReadOnlySpan<char> rest)
    {
        rest = rest.TrimStart(Blanks);
        int length = 0;
        while (length < rest.Length && IsOfWord(rest[length]))
        {
            length++;
        }

        ReadOnlySpan<char> word = rest[..length];
        rest = rest[length..].TrimStart(Blanks);
        return word;
    }

    /// <summary>
    /// Letters of keywords, and what makes them parts of another word. All others are taken for the end of a word, as some are.
    /// </summary>
    private static bool IsOfWord(char letter) => char.IsAsciiLetterOrDigit(letter) || letter == '_';
}
