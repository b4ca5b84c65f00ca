using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Analyzers;

/// <summary>What is known of each rental once all ways were followed.</summary>
internal static class Conclusions
{
    internal static IEnumerable<Diagnostic> Of(FlowGraph graph)
    {
        foreach (Site site in graph.Sites)
        {
            if (!site.IsRentedHere)
            {
                continue;
            }

            SyntaxNode place = site.Origin.Syntax;
            if (site.IsLeftOpen && !IsExpectedToFail(place))
            {
                yield return OpenRental(site, place.GetLocation());
            }
            else if (!site.IsLeftOpen && !site.IsNeededOnHeap && graph.Tiny.TryGetValue(place, out int bytes))
            {
                yield return Diagnostic.Create(Rules.TinyLength, place.GetLocation(), bytes);
            }

            if (!site.IsWholeMeant && !site.HasEscaped)
            {
                foreach (SyntaxNode use in site.WholeUses)
                {
                    yield return Diagnostic.Create(Rules.WholeArrayUsed, use.GetLocation(), use.ToString());
                }
            }
        }

        foreach (int point in graph.Kept)
        {
            if (!graph.Replaced.Contains(point) && KeptFields.FieldOf(graph, point) is { } field)
            {
                yield return Diagnostic.Create(Rules.KeptInField, graph.Points[point].Operation.Syntax.GetLocation(), field.Name);
            }
        }
    }

    /// <summary>An array may be dropped, and on some path that is often meant: then the finding is hidden.</summary>
    private static Diagnostic OpenRental(Site site, Location place)
    {
        if (site.Kind is not (RentalKind.Array or RentalKind.Object))
        {
            string ends = site.IsEverEnded ? "disposed, returned or handed on by some paths only" : "never disposed, returned or handed on";
            return Diagnostic.Create(Rules.LeaseNotEnded, place, ends);
        }

        return site.IsEverEnded
            ? Diagnostic.Create(Rules.ArrayNotReturned, place, DiagnosticSeverity.Hidden, null, null, "returned on some paths only")
            : Diagnostic.Create(Rules.ArrayNotReturned, place, "never returned");
    }

    /// <summary>A lambda that rents and drops the result is there to see the exception, as in a test.</summary>
    private static bool IsExpectedToFail(SyntaxNode expression)
    {
        while (expression.Parent is AwaitExpressionSyntax or ParenthesizedExpressionSyntax or MemberAccessExpressionSyntax
            or InvocationExpressionSyntax or AssignmentExpressionSyntax { Left: IdentifierNameSyntax { Identifier.ValueText: "_" } })
        {
            expression = expression.Parent;
        }

        return expression.Parent is LambdaExpressionSyntax
            || expression.Parent is ExpressionStatementSyntax { Parent: BlockSyntax { Parent: LambdaExpressionSyntax } };
    }
}
