using System.Buffers;
using System.Collections.Frozen;

namespace Tidepool.Data;

/// <summary>
/// What a text of SQLite may leave on the session that executes it, by its words. Words in comments, strings and names count too: that costs a
/// reset that was not needed. The other way round nothing is missed: a keyword is written in one way only, whatever its case.
/// </summary>
internal static class SqliteWords
{
    /// <summary>
    /// The words with which a statement begins, but for those that leave nothing: SELECT, VALUES, WITH, EXPLAIN, and END, which ends what another word
    /// has begun. And the functions that change a connection, or rows (the one that merges an index of words).
    /// </summary>
    private static readonly FrozenDictionary<string, SessionTraces> Traces = new Dictionary<string, SessionTraces>
    {
        ["insert"] = SessionTraces.Rows,
        ["replace"] = SessionTraces.Rows,
        ["update"] = SessionTraces.Rows,
        ["delete"] = SessionTraces.Rows,
        ["optimize"] = SessionTraces.Rows,
        ["begin"] = SessionTraces.Objects,
        ["savepoint"] = SessionTraces.Objects,
        ["release"] = SessionTraces.Objects,
        ["commit"] = SessionTraces.Objects,
        ["rollback"] = SessionTraces.Objects,
        ["create"] = SessionTraces.Objects,
        ["alter"] = SessionTraces.Objects,
        ["drop"] = SessionTraces.Objects,
        ["attach"] = SessionTraces.Objects,
        ["detach"] = SessionTraces.Objects,
        ["analyze"] = SessionTraces.Objects,
        ["reindex"] = SessionTraces.Objects,
        ["vacuum"] = SessionTraces.Anything,
        [Pragma] = SessionTraces.Anything,
        ["load_extension"] = SessionTraces.Anything,
        ["fts3_tokenizer"] = SessionTraces.Anything,
        ["icu_load_collation"] = SessionTraces.Anything,
    }.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase);

    /// <summary>Functions and kinds of tables of SQLite itself that count as added: builds differ in which they have.</summary>
    private static readonly FrozenSet<string> Own = new[]
    {
        "bm25", "highlight", "match", "matchinfo", "offsets", "optimize", "snippet", "fts3_tokenizer", "icu_load_collation",
        "fts3", "fts3tokenize", "fts4", "fts4aux", "fts5", "fts5vocab",
        "fts5_decode", "fts5_decode_none", "fts5_expr", "fts5_expr_tcl", "fts5_fold", "fts5_get_locale", "fts5_insttoken", "fts5_isalnum", "fts5_locale", "fts5_rowid", "fts5_source_id",
        "json", "json_array", "json_array_length", "json_each", "json_extract", "json_group_array", "json_group_object", "json_insert", "json_object",
        "json_patch", "json_quote", "json_remove", "json_replace", "json_set", "json_tree", "json_type", "json_valid",
        "rtree", "rtree_i32", "rtreecheck", "rtreedepth", "rtreenode", "dbstat", "sqlite_stmt",
    }.ToFrozenSet(StringComparer.OrdinalIgnoreCase);

    private static readonly SearchValues<string> Beginnings = SearchValues.Create([.. Traces.Keys], StringComparison.OrdinalIgnoreCase);
    private static readonly FrozenDictionary<string, SessionTraces>.AlternateLookup<ReadOnlySpan<char>> Lookup = Traces.GetAlternateLookup<ReadOnlySpan<char>>();

    private const string Pragma = "pragma";

    /// <summary>Reads a text once, from its beginning to its end or to the first word after which nothing worse can follow.</summary>
    internal static SessionTraces Find(string text)
    {
        SessionTraces worst = SessionTraces.Nothing;
        for (int end = 0, step; worst != SessionTraces.Anything && (step = text.AsSpan(end).IndexOfAny(Beginnings)) >= 0;)
        {
            int start = end + step;
            end = start + 1;
            while (end < text.Length && IsOfWord(text[end]))
            {
                end++;
            }

            if ((start == 0 || !IsOfWord(text[start - 1])) && Of(text.AsSpan(start..end)) is var traces && traces > worst)
            {
                worst = traces;
            }
        }

        return worst;
    }

    /// <summary>Whether a function or a kind of table is SQLite's.</summary>
    internal static bool IsOwn(string name) => Own.Contains(name);

    /// <summary>Also <c>pragma_table_info</c> and its like.</summary>
    private static SessionTraces Of(ReadOnlySpan<char> word) =>
        word.StartsWith(Pragma, StringComparison.OrdinalIgnoreCase) ? SessionTraces.Anything : Lookup.TryGetValue(word, out SessionTraces traces) ? traces : SessionTraces.Nothing;

    /// <summary>Letters of keywords, and what makes them parts of another word. All others are taken for the end of a word, as some are.</summary>
    private static bool IsOfWord(char letter) => char.IsAsciiLetterOrDigit(letter) || letter == '_';
}
