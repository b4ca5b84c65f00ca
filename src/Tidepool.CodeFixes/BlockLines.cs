using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Tidepool.CodeFixes;

/// <summary>The lines of a block behind one of its statements, and how they are laid out.</summary>
internal readonly struct BlockLines
{
    internal BlockLines(SourceText text, BlockSyntax block, StatementSyntax statement)
    {
        TextLine own = text.Lines.GetLineFromPosition(statement.SpanStart);
        TextLine open = text.Lines.GetLineFromPosition(block.OpenBraceToken.SpanStart);
        int last = text.Lines.GetLineFromPosition(statement.Span.End).LineNumber;
        Close = text.Lines.GetLineFromPosition(block.CloseBraceToken.SpanStart).LineNumber;
        Indent = IndentOf(own);
        string outer = IndentOf(open);
        Step = Indent.Length > outer.Length && Indent.StartsWith(outer, System.StringComparison.Ordinal)
            ? Indent.Substring(outer.Length)
            : Indent.IndexOf('\t') >= 0 ? "\t" : "    ";
        LineEnd = text.ToString(TextSpan.FromBounds(own.End, own.EndIncludingLineBreak));

        First = last + 1;
        while (First < Close && string.IsNullOrWhiteSpace(text.Lines[First].ToString()))
        {
            First++;
        }

        // Another statement in the statement's last line, or in the line of the closing brace, cannot be told from it by lines.
        AreApart = own.LineNumber > open.LineNumber && First < Close
            && own.Start + Indent.Length == statement.SpanStart
            && IsAlone(text, statement, last)
            && text.Lines[Close].Start + IndentOf(text.Lines[Close]).Length == block.CloseBraceToken.SpanStart;
    }

    /// <summary>The first line behind the statement that is not empty.</summary>
    internal int First { get; }

    /// <summary>The line of the closing brace.</summary>
    internal int Close { get; }

    /// <summary>The spaces in front of the statement.</summary>
    internal string Indent { get; }

    /// <summary>What one level adds to them.</summary>
    internal string Step { get; }

    internal string LineEnd { get; }

    /// <summary>Whether the statement, what follows and the closing brace share no line.</summary>
    internal bool AreApart { get; }

    private static bool IsAlone(SourceText text, StatementSyntax statement, int last)
    {
        string behind = text.ToString(TextSpan.FromBounds(statement.Span.End, text.Lines[last].End)).Trim();
        return behind.Length == 0 || behind.StartsWith("//", System.StringComparison.Ordinal);
    }

    private static string IndentOf(TextLine line)
    {
        string text = line.ToString();
        return text.Substring(0, text.Length - text.TrimStart().Length);
    }
}
