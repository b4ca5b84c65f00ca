using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Analyzers;

/// <summary>What is known of each rental once all ways were followed.</summary>
internal static class Conclusions
{
    /// <summary>Tells the code fixes that some way ends the rental already.</summary>
    private static readonly ImmutableDictionary<string, string?> s_somePaths =
        ImmutableDictionary<string, string?>.Empty.Add("EndedOnSomePaths", "true");

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

    /// <summary>
    /// Where some way ends the rental, another may do so by what is not followed, such as a number: then the finding is hidden.
    /// </summary>
    private static Diagnostic OpenRental(Site site, Location place)
    {
        bool isLease = site.Kind is not (RentalKind.Array or RentalKind.Object);
        DiagnosticDescriptor rule = isLease ? Rules.LeaseNotEnded : Rules.ArrayNotReturned;
        string ends = (isLease, site.IsEverEnded) switch
        {
            (true, true) => "disposed, returned or handed over on some paths only",
            (true, false) => "never disposed, returned or handed on",
            (false, true) => "returned on some paths only",
            (false, false) => "never returned",
        };
        object[] arguments = isLease ? [ends] : [site.Kind == RentalKind.Array ? "array" : "object", ends];
        return site.IsEverEnded
            ? Diagnostic.Create(rule, place, DiagnosticSeverity.Hidden, null, s_somePaths, arguments)
            : Diagnostic.Create(rule, place, arguments);
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
