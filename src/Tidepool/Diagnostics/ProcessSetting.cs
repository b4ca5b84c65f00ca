namespace Tidepool;

/// <summary>A setting of the process that is one of a few words.</summary>
internal static class ProcessSetting
{
    /// <summary>Finds the word that a setting has, whatever its case.</summary>
    /// <remarks>A value that is not understood must not stop a program: it means the first word, and is said on standard error.</remarks>
    /// <param name="text">The value, or null where it is not set.</param>
    /// <param name="name">What stands in front of the value in the message.</param>
    /// <param name="complaint">What stands behind it.</param>
    /// <param name="words">The words.</param>
    /// <returns>The place of the word; 0 where the setting is empty, and for what is no word.</returns>
    internal static int Choose(string? text, string name, string complaint, params string[] words)
    {
        string word = text?.Trim() ?? "";
        for (int i = 0; i < words.Length; i++)
        {
            if (word.Equals(words[i], StringComparison.OrdinalIgnoreCase))
            {
                return i;
            }
        }

        if (word.Length > 0)
        {
            Console.Error.WriteLine(string.Concat("Tidepool: ", name, text, complaint));
        }

        return 0;
    }
}
