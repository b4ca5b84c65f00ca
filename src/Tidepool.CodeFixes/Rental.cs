using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.CodeFixes;

/// <summary>A local declaration whose value is rented: <c>byte[] array = pool.Rent(n);</c></summary>
internal sealed class Rental
{
    private Rental(LocalDeclarationStatementSyntax statement, BlockSyntax block, ExpressionSyntax value)
    {
        Statement = statement;
        Block = block;
        Value = value;
    }

    internal LocalDeclarationStatementSyntax Statement { get; }

    /// <summary>The block that the declaration is a statement of.</summary>
    internal BlockSyntax Block { get; }

    /// <summary>The call or creation, without <c>await</c>, casts and parentheses around it.</summary>
    internal ExpressionSyntax Value { get; }

    internal string Name => Statement.Declaration.Variables[0].Identifier.ValueText;

    internal string NameAsWritten => Statement.Declaration.Variables[0].Identifier.Text;

    /// <summary>Finds the declaration of one local around the place; null where the rented value goes elsewhere.</summary>
    internal static Rental? Find(SyntaxNode root, int place)
    {
        LocalDeclarationStatementSyntax? statement =
            root.FindToken(place).Parent?.FirstAncestorOrSelf<LocalDeclarationStatementSyntax>();
        if (statement is not { Parent: BlockSyntax block, Declaration.Variables: { Count: 1 } variables }
            || !statement.UsingKeyword.IsKind(SyntaxKind.None)
            || variables[0].Initializer is not { } initializer)
        {
            return null;
        }

        ExpressionSyntax value = Strip(initializer.Value);
        bool isTheValue = value.Span.Contains(place) && IsOutermost(value, root.FindToken(place));
        return isTheValue || variables[0].Identifier.SpanStart == place || statement.SpanStart == place
            ? new Rental(statement, block, value)
            : null;
    }

    /// <summary>The pool's expression, when asking it again has no effect: names and members of names.</summary>
    internal ExpressionSyntax? Pool =>
        Value is InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax { Expression: { } pool } } && IsName(pool)
            ? pool
            : null;

    /// <summary>The name of the called method, without type arguments.</summary>
    internal string? Method =>
        Value is InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax called } ? called.Name.Identifier.ValueText : null;

    /// <summary>Statements behind the declaration in its block.</summary>
    internal SyntaxList<StatementSyntax> Rest =>
        new(Block.Statements.Skip(Block.Statements.IndexOf(Statement) + 1));

    /// <summary>Whether the local is assigned, or passed by reference, behind its declaration.</summary>
    internal bool IsReplaced => IsWritten(Block, Name);

    /// <summary>Whether a variable from outside the block is assigned from the rental, and may show its content after the block.</summary>
    internal bool IsShownOutside => Block.DescendantNodes().OfType<AssignmentExpressionSyntax>().Any(
        one => one.Kind() is SyntaxKind.SimpleAssignmentExpression or SyntaxKind.CoalesceAssignmentExpression
            && one.Right.DescendantNodesAndSelf().OfType<IdentifierNameSyntax>().Any(name => name.Identifier.ValueText == Name)
            && !IsOfBlock(one.Left));

    /// <summary>Whether the block declares all targets of an assignment.</summary>
    private bool IsOfBlock(ExpressionSyntax target) => target switch
    {
        TupleExpressionSyntax tuple => tuple.Arguments.All(one => IsOfBlock(one.Expression)),
        DeclarationExpressionSyntax => true,
        ElementAccessExpressionSyntax element => IsOfBlock(element.Expression),
        MemberAccessExpressionSyntax member => IsOfBlock(member.Expression),
        IdentifierNameSyntax { Identifier.ValueText: var name } => name == "_" || Block.DescendantNodes().Any(
            one => one switch
            {
                VariableDeclaratorSyntax local => local.Identifier.ValueText == name,
                SingleVariableDesignationSyntax local => local.Identifier.ValueText == name,
                ForEachStatementSyntax loop => loop.Identifier.ValueText == name,
                ParameterSyntax parameter => parameter.Identifier.ValueText == name,
                _ => false,
            }),
        _ => false,
    };

    internal static bool IsWritten(SyntaxNode within, string name) => within.DescendantNodes().OfType<IdentifierNameSyntax>().Any(
        one => one.Identifier.ValueText == name && one.Parent switch
        {
            AssignmentExpressionSyntax assignment => assignment.Left == one,
            ArgumentSyntax argument => !argument.RefKindKeyword.IsKind(SyntaxKind.None) || argument.Parent is TupleExpressionSyntax,
            PrefixUnaryExpressionSyntax prefix => prefix.Kind() is SyntaxKind.PreIncrementExpression
                or SyntaxKind.PreDecrementExpression or SyntaxKind.AddressOfExpression,
            PostfixUnaryExpressionSyntax postfix => postfix.Kind() is SyntaxKind.PostIncrementExpression
                or SyntaxKind.PostDecrementExpression,
            RefExpressionSyntax => true,
            _ => false,
        });

    private static ExpressionSyntax Strip(ExpressionSyntax value)
    {
        while (true)
        {
            switch (value)
            {
                case ParenthesizedExpressionSyntax inner:
                    value = inner.Expression;
                    break;
                case AwaitExpressionSyntax inner:
                    value = inner.Expression;
                    break;
                case CastExpressionSyntax inner:
                    value = inner.Expression;
                    break;
                case PostfixUnaryExpressionSyntax inner when inner.IsKind(SyntaxKind.SuppressNullableWarningExpression):
                    value = inner.Operand;
                    break;
                case InvocationExpressionSyntax
                {
                    Expression: MemberAccessExpressionSyntax { Name.Identifier.ValueText: "ConfigureAwait", Expression: { } inner },
                }:
                    value = inner;
                    break;
                default:
                    return value;
            }
        }
    }

    /// <summary>Whether no other call inside the value begins where the token does, as in <c>pool.Get().Append(text)</c>.</summary>
    private static bool IsOutermost(ExpressionSyntax value, SyntaxToken first) =>
        value.GetFirstToken() == first
        && !value.DescendantNodes().Any(one => one is InvocationExpressionSyntax && one.GetFirstToken() == first);

    private static bool IsName(ExpressionSyntax pool) => pool switch
    {
        SimpleNameSyntax or ThisExpressionSyntax or BaseExpressionSyntax => true,
        MemberAccessExpressionSyntax member => IsName(member.Expression),
        _ => false,
    };
}
