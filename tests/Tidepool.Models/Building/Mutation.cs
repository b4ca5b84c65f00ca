using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Models.Building;

/// <summary>Changes one method of the core, so that it has a bug.</summary>
/// <remarks>
/// <para>A mutation names its method by type and name, and what it changes by code that is compared as syntax: files, parts of a type,
/// line breaks, indentation and comments do not matter. It no longer fits once the statement or the expression itself is written anew:
/// the question is then what the bug would be now.</para>
/// <para>The code must stand in the method exactly once. A mutation that does not fit is refused, and so is one that changes nothing or
/// needs parentheses to mean what it says. docs/design/models.md has what was rejected.</para>
/// </remarks>
internal sealed class Mutation
{
    private readonly string _method;
    private readonly ImmutableArray<Func<MethodDeclarationSyntax, MethodDeclarationSyntax>> _edits;
    private readonly string? _name;

    private Mutation(string method, ImmutableArray<Func<MethodDeclarationSyntax, MethodDeclarationSyntax>> edits, string? name = null) =>
        (_method, _edits, _name) = (method, edits, name);

    /// <summary>Begins a mutation.</summary>
    /// <param name="method"><c>Type.Method</c>, or with the names of its parameters <c>Type.Method(first, second)</c>.</param>
    internal static Mutation In(string method) => new(method, []);

    /// <summary>Says what is wrong with the mutated core.</summary>
    internal Mutation Named(string name) => new(_method, _edits, name);

    /// <summary>Replaces an expression by another one, or statements that follow each other by others.</summary>
    internal Mutation Replace(string code, string bug)
    {
        (Fragment sound, Fragment broken) = (new(code), new(bug));
        return With(method => sound.Replace(method, broken));
    }

    /// <summary>Removes statements that follow each other, or an operand of <c>&amp;&amp;</c> or <c>||</c>.</summary>
    internal Mutation Remove(string code) => With(new Fragment(code).Remove);

    /// <summary>Lets the method's only lock go: its block stays.</summary>
    internal Mutation Unlock() => With(static method =>
    {
        StatementSyntax held = Fragment.Only(
            [.. method.DescendantNodes().OfType<StatementSyntax>().Where(static s => GuardedBy(s) is not null)], "a lock");
        return method.ReplaceNode(held, GuardedBy(held)!.WithTriviaFrom(held));
    });

    /// <summary>Plants the bug.</summary>
    /// <returns>The changed method, in its changed file.</returns>
    /// <exception cref="InvalidOperationException">The mutation does not fit the files.</exception>
    internal MethodDeclarationSyntax Apply(IEnumerable<SyntaxTree> files)
    {
        MethodDeclarationSyntax? method = null;
        try
        {
            method = CoreSyntax.FindMethod(files, _method);
            SyntaxNode root = method.SyntaxTree.GetRoot().ReplaceNode(method, Change(method));
            return CoreSyntax.FindMethod([method.SyntaxTree.WithRootAndOptions(root, method.SyntaxTree.Options)], _method);
        }
        catch (InvalidOperationException e)
        {
            string text = method is null ? string.Empty : $" {_method}:\n{method.NormalizeWhitespace().ToFullString()}";
            throw new InvalidOperationException($"{this} cannot be planted: {e.Message}.{text}", e);
        }
    }

    public override string ToString() => _name is null ? $"A bug in {_method}" : $"The bug \"{_name}\" in {_method}";

    /// <summary>What a statement does under a lock, or null: <c>lock (...)</c>, or <c>using (gate.Hold())</c>.</summary>
    private static StatementSyntax? GuardedBy(StatementSyntax statement) => statement switch
    {
        LockStatementSyntax held => held.Statement,
        UsingStatementSyntax { Expression: InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax called } } held
            when called.Name.Identifier.Text == "Hold" => held.Statement,
        _ => null,
    };

    private Mutation With(Func<MethodDeclarationSyntax, MethodDeclarationSyntax> edit) => new(_method, _edits.Add(edit), _name);

    private MethodDeclarationSyntax Change(MethodDeclarationSyntax method)
    {
        MethodDeclarationSyntax changed = _edits.Aggregate(method, static (m, edit) => Read(edit(m)));
        return SyntaxFactory.AreEquivalent(method, changed)
            ? throw new InvalidOperationException("nothing would change")
            : changed;
    }

    /// <summary>Parses what was put together, which must be what its text says.</summary>
    private static MethodDeclarationSyntax Read(MethodDeclarationSyntax made)
    {
        MemberDeclarationSyntax? read = SyntaxFactory.ParseMemberDeclaration(made.ToFullString(), options: CoreSyntax.Parsing);
        return read is MethodDeclarationSyntax method && Shape(method).SequenceEqual(Shape(made))
            ? method
            : throw new InvalidOperationException("what is put there needs parentheses");
    }

    private static IEnumerable<(int Kind, int Start, int Length)> Shape(MethodDeclarationSyntax method) =>
        method.DescendantNodes().Select(node => (node.RawKind, node.SpanStart - method.FullSpan.Start, node.Span.Length));
}
