using Microsoft.CodeAnalysis;

namespace Tidepool.Analyzers;

/// <summary>
/// What the ways through one graph showed. A rule that must hold on all ways counts the ways that reach a place and those of them that
/// break it.
/// </summary>
internal sealed class Findings
{
    private readonly Dictionary<(DiagnosticDescriptor Rule, SyntaxNode Place), Count> _counts = [];
    private readonly Dictionary<(DiagnosticDescriptor Rule, SyntaxNode Place), Diagnostic> _certain = [];

    /// <summary>Counts a way that reaches a place.</summary>
    internal void Count(DiagnosticDescriptor rule, SyntaxNode place, bool breaks, Func<Diagnostic>? describe = null)
    {
        if (!_counts.TryGetValue((rule, place), out Count count))
        {
            count = default;
        }

        count = new Count(count.Ways + 1, count.Breaks + (breaks ? 1 : 0), count.Diagnostic ?? (breaks ? describe?.Invoke() : null));
        _counts[(rule, place)] = count;
    }

    /// <summary>Adds a finding that one way proves.</summary>
    internal void Add(DiagnosticDescriptor rule, SyntaxNode place, params object[] arguments)
    {
        if (!_certain.ContainsKey((rule, place)))
        {
            _certain.Add((rule, place), Diagnostic.Create(rule, place.GetLocation(), arguments));
        }
    }

    internal IEnumerable<Diagnostic> Proved()
    {
        foreach (Diagnostic diagnostic in _certain.Values)
        {
            yield return diagnostic;
        }

        foreach (Count count in _counts.Values)
        {
            if (count.Ways == count.Breaks && count.Diagnostic is { } diagnostic)
            {
                yield return diagnostic;
            }
        }
    }
}

/// <summary>The ways that reach a place, and those that break a rule there.</summary>
internal readonly struct Count(int ways, int breaks, Diagnostic? diagnostic)
{
    internal int Ways { get; } = ways;

    internal int Breaks { get; } = breaks;

    internal Diagnostic? Diagnostic { get; } = diagnostic;
}
