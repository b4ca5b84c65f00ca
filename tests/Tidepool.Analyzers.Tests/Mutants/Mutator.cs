using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Analyzers.Tests.Mutants;

/// <summary>Makes every mutant of a seed: returns deleted, doubled, moved, sent elsewhere; and what the other rules are about.</summary>
internal static class Mutator
{
    private const string OtherPool =
        "\ninternal static class OtherPool<T>\n{\n    public static readonly ArrayPool<T> Pool = ArrayPool<T>.Create();\n}\n";

    public static IEnumerable<Mutant> Mutate(SeedMethod seed) =>
    [
        .. seed.Rentals.SelectMany(rental => Delete(seed, rental)),
        .. seed.Rentals.SelectMany(rental => Double(seed, rental)),
        .. seed.Rentals.SelectMany(rental => Move(seed, rental)),
        .. seed.Rentals.SelectMany(rental => Elsewhere(seed, rental)),
        .. seed.Rentals.SelectMany(rental => Lengths(seed, rental)),
        .. KeepField(seed),
        .. NotCleared(seed),
    ];

    private static IEnumerable<Mutant> Delete(SeedMethod seed, SeedRental rental)
    {
        string rule = rental.IsRaw ? "POOL004" : "POOL003";
        if (rental.Using is { } declaration)
        {
            LocalDeclarationStatementSyntax plain = declaration.WithUsingKeyword(default)
                .WithDeclaration(declaration.Declaration.WithLeadingTrivia(declaration.GetLeadingTrivia()));
            yield return Of(seed, "using deleted", rule, seed.Root.ReplaceNode(declaration, plain), Escapes(rental));
        }

        if (rental.Returns.Count > 0)
        {
            yield return Of(seed, "all returns deleted", rule, WithNothing(seed.Root, rental.Returns), Escapes(rental));
        }

        if (rental.Returns.Count > 1)
        {
            foreach (ExpressionStatementSyntax one in rental.Returns)
            {
                yield return Of(
                    seed,
                    "one of several returns deleted",
                    rule,
                    WithNothing(seed.Root, [one]),
                    "other paths return, so one path may drop it");
            }
        }
    }

    private static IEnumerable<Mutant> Double(SeedMethod seed, SeedRental rental)
    {
        foreach (ExpressionStatementSyntax one in rental.Returns)
        {
            yield return Of(
                seed,
                "return doubled",
                "POOL001",
                seed.Root.ReplaceNode(one, [one, one]),
                MayBeTwice(one) ?? Unreached(one) ?? Escapes(rental));
            if (one.Parent is BlockSyntax { Parent: FinallyClauseSyntax { Parent: TryStatementSyntax attempt } })
            {
                StatementSyntax last = attempt.Block.Statements.Last();
                BlockSyntax twice = last is ReturnStatementSyntax
                    ? attempt.Block.WithStatements(attempt.Block.Statements.Insert(attempt.Block.Statements.Count - 1, one))
                    : attempt.Block.AddStatements(one);
                string? notCounted = MayBeTwice(one) ?? Escapes(rental);
                yield return Of(seed, "returned in try too", "POOL005", seed.Root.ReplaceNode(attempt.Block, twice), notCounted);
            }
        }
    }

    private static IEnumerable<Mutant> Move(SeedMethod seed, SeedRental rental)
    {
        foreach (ExpressionStatementSyntax one in rental.Returns)
        {
            bool isFinally = one.Parent is BlockSyntax { Parent: FinallyClauseSyntax };
            BlockSyntax? block = isFinally ? ((TryStatementSyntax)one.Parent!.Parent!.Parent!).Block : BlockOf(one);
            StatementSyntax? use = block?.Statements
                .Where(statement => isFinally || statement.SpanStart < one.SpanStart)
                .LastOrDefault(statement => !statement.Contains(one) && rental.IsUsedIn(statement));
            if (use is null || rental.IsAssignedIn(use))
            {
                continue;
            }

            StatementSyntax moved = isFinally || one.Parent == block ? one : (StatementSyntax)one.Parent!.Parent!;
            SyntaxNode tracked = seed.Root.TrackNodes(moved, use);
            tracked = tracked.InsertNodesBefore(tracked.GetCurrentNode(use)!, [moved]);
            yield return Of(
                seed,
                "return moved before a use",
                "POOL002",
                WithNothing(tracked, [tracked.GetCurrentNode(moved)!]),
                Unreached(one) ?? Escapes(rental));
        }

        if (rental.Using is { Parent: BlockSyntax scope } declaration)
        {
            StatementSyntax? use = scope.Statements.LastOrDefault(rental.IsUsedIn);
            if (use is not null && use != declaration && !rental.IsAssignedIn(use))
            {
                StatementSyntax early = SyntaxFactory.ParseStatement($"{rental.Names.First()}.Dispose();\n");
                yield return Of(
                    seed, "disposed before a use", "POOL002", seed.Root.InsertNodesBefore(use, [early]), Escapes(rental));
            }
        }
    }

    /// <summary>The block whose statements come before the return: its own, or that of the condition that guards only the return.</summary>
    private static BlockSyntax? BlockOf(ExpressionStatementSyntax one) =>
        one.Parent is BlockSyntax { Statements.Count: 1, Parent: IfStatementSyntax { Else: null, Parent: BlockSyntax outer } }
            ? outer
            : one.Parent as BlockSyntax;

    private static IEnumerable<Mutant> Elsewhere(SeedMethod seed, SeedRental rental)
    {
        foreach (ExpressionStatementSyntax one in rental.Returns.Where(_ => rental.IsArray))
        {
            var call = (InvocationExpressionSyntax)one.Expression;
            var method = (MemberAccessExpressionSyntax)call.Expression;
            string? other = method.Expression.ToString() is var pool && pool.EndsWith(".Shared", StringComparison.Ordinal)
                ? pool.Replace("ArrayPool", "OtherPool", StringComparison.Ordinal).Replace(".Shared", ".Pool", StringComparison.Ordinal)
                : "OtherPool<int>.Pool";
            SyntaxNode changed = seed.Root.ReplaceNode(method.Expression, SyntaxFactory.ParseExpression(other));
            yield return Of(
                seed,
                "returned to another pool",
                "POOL006",
                changed,
                rental.Names.Count > 1 ? "which of two rentals it is depends on the path" : Unreached(one) ?? Escapes(rental),
                OtherPool);
        }
    }

    private static IEnumerable<Mutant> Lengths(SeedMethod seed, SeedRental rental)
    {
        if (!rental.IsArray || rental.Call.ArgumentList.Arguments is not [{ Expression: { } length }])
        {
            yield break;
        }

        foreach (InvocationExpressionSyntax slice in seed.Method.DescendantNodes().OfType<InvocationExpressionSyntax>())
        {
            if (slice is
                {
                    Parent: ArgumentSyntax
                    {
                        Parent.Parent: InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax reader },
                    },
                    Expression: MemberAccessExpressionSyntax { Expression: IdentifierNameSyntax array },
                    ArgumentList.Arguments: [_, { } count],
                }
                && rental.Names.Contains(array.Identifier.ValueText) && count.ToString() == length.ToString()
                && reader.Name.Identifier.ValueText is "Write" or "WriteAsync" or "HashData" or "FixedTimeEquals")
            {
                yield return Of(seed, "slice deleted", "POOL008", seed.Root.ReplaceNode(slice, array), Escapes(rental));
            }
        }

        if (rental.IsBytes)
        {
            bool maySpan = !seed.Method.Modifiers.Any(SyntaxKind.AsyncKeyword)
                && !seed.Method.DescendantNodes().OfType<YieldStatementSyntax>().Any();
            yield return Of(
                seed,
                "length made 16",
                "POOL011",
                seed.Root.ReplaceNode(length, SyntaxFactory.ParseExpression("16")),
                !maySpan ? "a span on the stack cannot cross await or yield" : IsInLoop(rental.Call) ? "the stack grows in a loop" : null);
            SyntaxNode large = seed.Root.ReplaceNode(length, SyntaxFactory.ParseExpression("70_000"));
            yield return Of(seed, "length made 70,000", "POOL012", large, null);
        }
    }

    private static IEnumerable<Mutant> KeepField(SeedMethod seed) =>
        from clear in seed.Method.DescendantNodes().OfType<ExpressionStatementSyntax>()
        where clear.Expression is AssignmentExpressionSyntax
        {
            Left: IdentifierNameSyntax { Identifier.ValueText: ['_', ..] },
            Right: LiteralExpressionSyntax { RawKind: (int)SyntaxKind.NullLiteralExpression },
        }
        select Of(
            seed,
            "field not cleared",
            "POOL007",
            WithNothing(seed.Root, [clear]),
            seed.Method.DescendantNodes().OfType<AssignmentExpressionSyntax>().Count(
                one => one.Left.ToString() == ((AssignmentExpressionSyntax)clear.Expression).Left.ToString()) > 1
                ? "another path gives the field a new array"
                : null);

    private static IEnumerable<Mutant> NotCleared(SeedMethod seed) =>
        from argument in seed.Method.DescendantNodes().OfType<ArgumentSyntax>()
        where argument.NameColon?.Name.Identifier.ValueText == "clearArray"
        select Of(seed, "clearArray deleted", "POOL010", seed.Root.RemoveNode(argument, SyntaxRemoveOptions.KeepNoTrivia)!, null);

    private static Mutant Of(SeedMethod seed, string change, string rule, SyntaxNode root, string? notCounted, string more = "") =>
        new(seed.Method.Identifier.ValueText, seed.Style, change, rule, root.ToFullString() + more, notCounted);

    private static SyntaxNode WithNothing(SyntaxNode root, IEnumerable<StatementSyntax> statements) =>
        root.RemoveNodes(statements, SyntaxRemoveOptions.KeepNoTrivia)!;

    private static bool IsInLoop(SyntaxNode call) =>
        call.Ancestors().Any(above => above is ForStatementSyntax or ForEachStatementSyntax or WhileStatementSyntax or DoStatementSyntax);

    private static string? MayBeTwice(ExpressionStatementSyntax one) =>
        one.Expression.ToString().EndsWith(".Dispose()", StringComparison.Ordinal) ? "Dispose may be called twice" : null;

    private static string? Unreached(SyntaxNode one) =>
        one.Ancestors().Any(above => above is CatchClauseSyntax) ? "only after an exception" : null;

    private static string? Escapes(SeedRental rental) => rental.IsCaptured ? "another function has it too" : null;
}
