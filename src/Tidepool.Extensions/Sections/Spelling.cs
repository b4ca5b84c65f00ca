namespace Tidepool;

/// <summary>What a user may have meant by a mistyped word. Upper and lower case are one.</summary>
internal static class Spelling
{
    private const int MostEdits = 2;

    /// <summary>The known word that is nearest; null when none is within two edits, or the words have less than half in common.</summary>
    internal static string? FindNearest(string word, IEnumerable<string> known)
    {
        var nearest = known.Select(candidate => (Word: candidate, Edits: CountEdits(word, candidate)))
            .OrderBy(static candidate => candidate.Edits)
            .ThenBy(static candidate => candidate.Word, StringComparer.Ordinal)
            .FirstOrDefault();
        return nearest.Word is not null && nearest.Edits <= MostEdits && 2 * nearest.Edits < nearest.Word.Length ? nearest.Word : null;
    }

    /// <summary>Letters to add, remove, replace or exchange with their neighbour: the restricted Damerau-Levenshtein distance.</summary>
    private static int CountEdits(string from, string to)
    {
        int[,] edits = new int[from.Length + 1, to.Length + 1];
        for (int i = 0; i <= from.Length; i++)
        {
            for (int j = 0; j <= to.Length; j++)
            {
                if (i == 0 || j == 0)
                {
                    edits[i, j] = i + j;
                    continue;
                }

                int replaced = edits[i - 1, j - 1] + (IsSame(from[i - 1], to[j - 1]) ? 0 : 1);
                edits[i, j] = Math.Min(replaced, Math.Min(edits[i - 1, j], edits[i, j - 1]) + 1);
                if (i > 1 && j > 1 && IsSame(from[i - 1], to[j - 2]) && IsSame(from[i - 2], to[j - 1]))
                {
                    edits[i, j] = Math.Min(edits[i, j], edits[i - 2, j - 2] + 1);
                }
            }
        }

        return edits[from.Length, to.Length];
    }

    private static bool IsSame(char one, char other) => char.ToUpperInvariant(one) == char.ToUpperInvariant(other);
}
