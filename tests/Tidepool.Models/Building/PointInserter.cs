using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Models.Building;

/// <summary>
/// Puts a point before every statement and between the halves of every <c>&amp;&amp;</c>, so that threads may interleave there. Code
/// that holds a lock of the runtime gets no points: a thread that waits for the lock would look like a thread that is stuck.
/// </summary>
internal sealed class PointInserter : CSharpSyntaxRewriter
{
    // GetStatistics holds the lock of the thread tier, which is one of the runtime.
    private static readonly HashSet<string> Skipped = ["IsValid", "Validate", "CheckRest", "GetStatistics", "Evict"];

    private string _method = "?";
    private int _number;

    public override SyntaxNode? VisitMethodDeclaration(MethodDeclarationSyntax node)
    {
        if (Skipped.Contains(node.Identifier.Text))
        {
            return node;
        }

        _method = node.Identifier.Text;
        _number = 0;
        return base.VisitMethodDeclaration(node);
    }

    public override SyntaxNode? VisitConstructorDeclaration(ConstructorDeclarationSyntax node) => node;

    public override SyntaxNode? VisitPropertyDeclaration(PropertyDeclarationSyntax node) => node;

    public override SyntaxNode? VisitAnonymousMethodExpression(AnonymousMethodExpressionSyntax node) => node;

    public override SyntaxNode? VisitSimpleLambdaExpression(SimpleLambdaExpressionSyntax node) => node;

    public override SyntaxNode? VisitParenthesizedLambdaExpression(ParenthesizedLambdaExpressionSyntax node) => node;

    public override SyntaxNode? VisitLockStatement(LockStatementSyntax node) => node;

    public override SyntaxNode? VisitBinaryExpression(BinaryExpressionSyntax node)
    {
        var visited = (BinaryExpressionSyntax)base.VisitBinaryExpression(node)!;
        return visited.IsKind(SyntaxKind.LogicalAndExpression)
            ? visited.WithRight(SyntaxFactory.ParseExpression(
                $"(global::Tidepool.Models.Building.Points.Here(\"{Name()}\") && ({visited.Right}))"))
            : visited;
    }

    public override SyntaxNode? VisitBlock(BlockSyntax node)
    {
        var statements = new List<StatementSyntax>();
        foreach (StatementSyntax statement in node.Statements)
        {
            if (statement is not LocalFunctionStatementSyntax && !statement.ToString().StartsWith("Schedule.", StringComparison.Ordinal))
            {
                statements.Add(SyntaxFactory.ParseStatement($"Schedule.Point(\"{Name()}\");\n"));
            }

            statements.Add((StatementSyntax)Visit(statement)!);
        }

        return node.WithStatements(SyntaxFactory.List(statements));
    }

    private string Name() => $"{_method} {++_number}";
}
