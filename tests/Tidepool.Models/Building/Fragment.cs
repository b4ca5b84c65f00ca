using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Models.Building;

/// <summary>Code to look for in a method, or to put there: one expression, or statements that follow each other.</summary>
internal sealed class Fragment
{
    private readonly string _code;
    private readonly ExpressionSyntax? _expression;
    private readonly SyntaxList<StatementSyntax> _statements;

    /// <summary>Parses C#: an expression where it can be one, otherwise statements.</summary>
    /// <exception cref="ArgumentException">The code is empty, or neither.</exception>
    internal Fragment(string code)
    {
        _code = code;
        if (Parse($"return {code};") is [ReturnStatementSyntax { Expression: { } expression }])
        {
            _expression = expression;
        }
        else if (Parse(code) is { Count: > 0 } statements)
        {
            _statements = statements;
        }
        else
        {
            throw new ArgumentException($"This is neither an expression nor statements: \"{code}\"", nameof(code));
        }
    }

    public override string ToString() => _code;

    /// <summary>Puts another fragment in the place of this one.</summary>
    internal MethodDeclarationSyntax Replace(MethodDeclarationSyntax method, Fragment bug)
    {
        if ((_expression is null) != (bug._expression is null))
        {
            throw new InvalidOperationException($"`{this}` and `{bug}` must both be expressions, or both statements");
        }

        if (_expression is null)
        {
            return Splice(method, bug._statements);
        }

        ExpressionSyntax place = Find(method);
        return method.ReplaceNode(place, bug._expression!.WithTriviaFrom(place));
    }

    /// <summary>Removes the statements, or the expression where it is an operand of <c>&amp;&amp;</c> or <c>||</c>.</summary>
    internal MethodDeclarationSyntax Remove(MethodDeclarationSyntax method)
    {
        if (_expression is null)
        {
            return Splice(method, []);
        }

        ExpressionSyntax place = Find(method);
        if (place.Parent is not BinaryExpressionSyntax { OperatorToken.Text: "&&" or "||" } both)
        {
            throw new InvalidOperationException($"`{this}` is an operand of neither && nor ||");
        }

        return method.ReplaceNode(both, (both.Left == place ? both.Right : both.Left).WithTriviaFrom(both));
    }

    /// <summary>The only one of the nodes; any other number is an error.</summary>
    internal static T Only<T>(IReadOnlyList<T> places, string what) => places.Count == 1
        ? places[0]
        : throw new InvalidOperationException($"{what} stands there {places.Count} times and must stand there once");

    // As the body of an asynchronous method, so that await is one.
    private static SyntaxList<StatementSyntax>? Parse(string body) =>
        SyntaxFactory.ParseMemberDeclaration($"async void M()\n{{\n{body}\n}}", options: CoreSyntax.Parsing) is MethodDeclarationSyntax
        {
            ContainsDiagnostics: false, Body: { } block,
        }
            ? block.Statements
            : null;

    private static SyntaxList<StatementSyntax> ListOf(SyntaxNode node) => node switch
    {
        BlockSyntax block => block.Statements,
        SwitchSectionSyntax section => section.Statements,
        _ => [],
    };

    private ExpressionSyntax Find(MethodDeclarationSyntax method) =>
        Only([.. method.DescendantNodes().OfType<ExpressionSyntax>().Where(IsThis)], $"`{this}`");

    private bool IsThis(ExpressionSyntax place) =>
        SyntaxFactory.AreEquivalent(place, _expression!) && !(place.Parent is MemberAccessExpressionSyntax access && access.Name == place);

    private MethodDeclarationSyntax Splice(MethodDeclarationSyntax method, SyntaxList<StatementSyntax> bug)
    {
        (SyntaxNode owner, int start) = Only(
            [.. method.DescendantNodes().SelectMany(node => Starts(ListOf(node)).Select(start => (node, start)))],
            $"`{this}`");
        SyntaxList<StatementSyntax> list = ListOf(owner);
        SyntaxList<StatementSyntax> changed = [.. list.Take(start), .. bug, .. list.Skip(start + _statements.Count)];
        return method.ReplaceNode(owner, owner switch
        {
            BlockSyntax block => block.WithStatements(changed),
            _ => ((SwitchSectionSyntax)owner).WithStatements(changed),
        });
    }

    /// <summary>Where in a list of statements these begin.</summary>
    private IEnumerable<int> Starts(SyntaxList<StatementSyntax> list) =>
        Enumerable.Range(0, Math.Max(0, list.Count - _statements.Count + 1))
            .Where(start => _statements.Zip(list.Skip(start)).All(static pair => SyntaxFactory.AreEquivalent(pair.First, pair.Second)));
}
