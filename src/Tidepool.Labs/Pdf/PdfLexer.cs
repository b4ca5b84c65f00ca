using System.Globalization;
using System.Text;

namespace Tidepool.Labs;

/// <summary>Finds where the values of a PDF begin and end, without making objects of them.</summary>
internal static class PdfLexer
{
    private const int MaxDepth = 200;

    /// <summary>The first byte at or behind a place that is neither white space nor comment.</summary>
    public static int SkipSpace(ReadOnlySpan<byte> data, int at)
    {
        while (at < data.Length)
        {
            if (data[at] == '%')
            {
                while (at < data.Length && data[at] is not ((byte)'\r' or (byte)'\n'))
                {
                    at++;
                }
            }
            else if (IsSpace(data[at]))
            {
                at++;
            }
            else
            {
                break;
            }
        }

        return at;
    }

    /// <summary>The end of the value that begins at a place; a reference (<c>12 0 R</c>) is one value.</summary>
    /// <exception cref="InvalidDataException">There is no whole value.</exception>
    public static int SkipValue(ReadOnlySpan<byte> data, int at, int depth = 0)
    {
        if (at >= data.Length || depth > MaxDepth)
        {
            throw Damaged(at, at >= data.Length ? "it ends where a value should be" : "values are nested too deeply");
        }

        switch (data[at])
        {
            case (byte)'<' when at + 1 < data.Length && data[at + 1] == '<':
                return SkipGroup(data, at + 2, ">>"u8, depth);
            case (byte)'<':
                return SkipTo(data, at, (byte)'>');
            case (byte)'[':
                return SkipGroup(data, at + 1, "]"u8, depth);
            case (byte)'(':
                return SkipString(data, at);
            case (byte)'/':
                return SkipWord(data, at + 1);
            default:
                int end = SkipWord(data, at);
                return end == at ? throw Damaged(at, "no value begins here") : SkipReference(data, at, end);
        }
    }

    /// <summary>The entries of the dictionary that begins at a place: the value of each name, as a range.</summary>
    /// <exception cref="InvalidDataException">There is no whole dictionary.</exception>
    public static Dictionary<string, Range> ReadDictionary(ReadOnlySpan<byte> data, int at, out int end)
    {
        if (!data[Math.Min(at, data.Length)..].StartsWith("<<"u8))
        {
            throw Damaged(at, "a dictionary should be here");
        }

        var entries = new Dictionary<string, Range>(StringComparer.Ordinal);
        at = SkipSpace(data, at + 2);
        while (!data[at..].StartsWith(">>"u8))
        {
            if (at >= data.Length || data[at] != '/')
            {
                throw Damaged(at, "the name of an entry should be here");
            }

            int nameEnd = SkipWord(data, at + 1);
            int value = SkipSpace(data, nameEnd);
            int valueEnd = SkipValue(data, value);
            entries[Encoding.Latin1.GetString(data[(at + 1)..nameEnd])] = value..valueEnd;
            at = SkipSpace(data, valueEnd);
        }

        end = at + 2;
        return entries;
    }

    /// <summary>The whole number at a place.</summary>
    /// <exception cref="InvalidDataException">There is none.</exception>
    public static long ReadNumber(ReadOnlySpan<byte> data, ref int at)
    {
        at = SkipSpace(data, at);
        int end = SkipWord(data, at);
        if (!long.TryParse(data[at..end], NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long number))
        {
            throw Damaged(at, "a whole number should be here");
        }

        at = end;
        return number;
    }

    /// <summary>The numbers of an array, or of a reference.</summary>
    public static List<long> ReadNumbers(ReadOnlySpan<byte> data, Range range)
    {
        var numbers = new List<long>();
        char[] separators = [' ', '\r', '\n', '\t', '[', ']', '\f', '\0'];
        foreach (string word in Encoding.Latin1.GetString(data[range]).Split(separators, StringSplitOptions.RemoveEmptyEntries))
        {
            if (long.TryParse(word, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long number))
            {
                numbers.Add(number);
            }
        }

        return numbers;
    }

    /// <summary>Skips a word that must be at a place.</summary>
    /// <exception cref="InvalidDataException">Something else is there.</exception>
    public static int Expect(ReadOnlySpan<byte> data, int at, ReadOnlySpan<byte> word)
    {
        at = SkipSpace(data, at);
        return data[at..].StartsWith(word) ? at + word.Length : throw Damaged(at, $"'{Encoding.ASCII.GetString(word)}' should be here");
    }

    /// <summary>The exception for a file that breaks off or does not follow the format.</summary>
    public static InvalidDataException Damaged(long at, string what) => new($"The PDF is damaged: at byte {at}, {what}.");

    private static int SkipGroup(ReadOnlySpan<byte> data, int at, ReadOnlySpan<byte> close, int depth)
    {
        at = SkipSpace(data, at);
        while (at < data.Length && !data[at..].StartsWith(close))
        {
            at = SkipSpace(data, SkipValue(data, at, depth + 1));
        }

        return at < data.Length ? at + close.Length : throw Damaged(at, "an array or a dictionary does not end");
    }

    private static int SkipTo(ReadOnlySpan<byte> data, int at, byte last)
    {
        int length = data[at..].IndexOf(last);
        return length < 0 ? throw Damaged(at, "a string does not end") : at + length + 1;
    }

    private static int SkipString(ReadOnlySpan<byte> data, int at)
    {
        int open = 0;
        for (int i = at; i < data.Length; i++)
        {
            switch (data[i])
            {
                case (byte)'\\':
                    i++;
                    break;
                case (byte)'(':
                    open++;
                    break;
                case (byte)')' when --open == 0:
                    return i + 1;
                default:
                    break;
            }
        }

        throw Damaged(at, "a string does not end");
    }

    private static int SkipReference(ReadOnlySpan<byte> data, int at, int end)
    {
        if (!IsNumber(data[at..end]))
        {
            return end;
        }

        int second = SkipSpace(data, end);
        int secondEnd = SkipWord(data, second);
        int third = SkipSpace(data, secondEnd);
        bool isReference = IsNumber(data[second..secondEnd]) && third < data.Length
            && data[third] == 'R' && SkipWord(data, third) == third + 1;
        return isReference ? third + 1 : end;
    }

    private static bool IsNumber(ReadOnlySpan<byte> word) => !word.IsEmpty && !word.ContainsAnyExceptInRange((byte)'0', (byte)'9');

    private static int SkipWord(ReadOnlySpan<byte> data, int at)
    {
        while (at < data.Length && !IsSpace(data[at]) && "()<>[]{}/%"u8.IndexOf(data[at]) < 0)
        {
            at++;
        }

        return at;
    }

    private static bool IsSpace(byte value) => value is 0 or 9 or 10 or 12 or 13 or 32;
}
