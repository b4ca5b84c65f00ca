using Spectre.Console;

namespace Tidepool.Labs;

/// <summary>A column of a table in the terminal: its heading, the text of a row, and what goes first where there is no room.</summary>
/// <param name="Heading">The heading.</param>
/// <param name="Text">The text of a row.</param>
/// <param name="Rank">Of columns that may be left out, the one with the highest rank goes first.</param>
internal sealed record TextColumn<TRow>(string Heading, Func<TRow, string> Text, int Rank = 0)
{
    /// <summary>The widest text of the column.</summary>
    public int WidthOf(IEnumerable<TRow> rows) => rows.Select(row => Text(row).Length).Append(Heading.Length).Max();
}

/// <summary>
/// A table whose lines are never broken, so that a name stands on the line with its own numbers. Numbers are to the right; lines above
/// a group of rows may be longer than the name's column, and are broken where the terminal ends.
/// </summary>
internal sealed class TextTable<TRow>(IReadOnlyList<TRow> rows, Func<TRow, string> name, Func<TRow, string> style)
{
    /// <summary>Spaces between two columns, and before the first.</summary>
    public const int Gap = 2;

    private readonly int _nameWidth = rows.Max(row => name(row).Length);

    /// <summary>The width that columns need beside the names.</summary>
    public int WidthOf(IEnumerable<TextColumn<TRow>> columns) =>
        Gap + _nameWidth + columns.Sum(column => Gap + column.WidthOf(rows));

    /// <summary>Prints it.</summary>
    /// <param name="console">The terminal.</param>
    /// <param name="columns">What stands beside the names.</param>
    /// <param name="heading">What stands above a row, where it begins a group; else null.</param>
    public void Print(IAnsiConsole console, IReadOnlyList<TextColumn<TRow>> columns, Func<TRow, string?> heading)
    {
        int[] widths = [.. columns.Select(column => column.WidthOf(rows))];
        string space = new(' ', Gap);
        console.WriteLine();
        Write("", columns.Select(column => column.Heading), "grey");
        foreach (TRow row in rows)
        {
            if (heading(row) is { Length: > 0 } group)
            {
                console.MarkupLine($"{space}[underline]{Markup.Escape(group)}[/]");
            }

            Write(name(row), columns.Select(column => column.Text(row)), style(row));
        }

        void Write(string first, IEnumerable<string> cells, string look)
        {
            string numbers = string.Concat(cells.Zip(widths, (cell, width) => space + cell.PadLeft(width)));
            string padded = (space + first).PadRight(Gap + _nameWidth);
            console.MarkupLine($"[{look}]{Markup.Escape(padded)}[/]{Markup.Escape(numbers).TrimEnd()}");
        }
    }
}
