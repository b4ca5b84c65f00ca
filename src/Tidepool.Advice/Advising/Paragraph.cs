using System.Text;
using Spectre.Console;

namespace Tidepool.Advice;

/// <summary>Writes sentences and code for a terminal of any width, so that what is wrapped stays under its beginning.</summary>
internal static class Paragraph
{
    private const string Indent = "  ";

    /// <summary>Writes sentences, indented.</summary>
    public static void Write(IAnsiConsole console, string text) =>
        WriteLines(console, Lines(text, console.Profile.Width, Indent, Indent), null);

    /// <summary>Writes code, grey, behind a mark such as <c>- </c>.</summary>
    public static void WriteCode(IAnsiConsole console, string mark, string code)
    {
        string below = Indent + new string(' ', mark.Length);
        string first = Indent + mark;
        foreach (string line in code.TrimEnd().Split('\n'))
        {
            string leading = line[..^line.TrimStart().Length];
            WriteLines(
                console,
                Lines(line.TrimStart(), console.Profile.Width, first + leading, below + leading + Indent),
                new Style(Color.Grey));
            first = below;
        }
    }

    /// <summary>The lines of a paragraph: broken at spaces, and longer than the width only where a word is.</summary>
    /// <param name="text">The words.</param>
    /// <param name="width">The most characters of a line.</param>
    /// <param name="first">What the first line begins with.</param>
    /// <param name="rest">What the others begin with.</param>
    internal static IEnumerable<string> Lines(string text, int width, string first, string rest)
    {
        var line = new StringBuilder(first);
        bool isBegun = false;
        foreach (string word in text.Split(' '))
        {
            if (isBegun && line.Length + 1 + word.Length > width)
            {
                yield return line.ToString().TrimEnd();
                line.Clear().Append(rest);
                isBegun = false;
            }

            if (isBegun || word.Length > 0)
            {
                line.Append(isBegun ? " " : "").Append(word);
                isBegun = true;
            }
        }

        yield return line.ToString().TrimEnd();
    }

    private static void WriteLines(IAnsiConsole console, IEnumerable<string> lines, Style? style)
    {
        foreach (string line in lines)
        {
            console.Write(new Text(line + "\n", style));
        }
    }
}
