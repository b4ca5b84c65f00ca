using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Tidy;

/// <summary>The gate of a resource pool is entered by <c>using</c>, so that it is left on every way out, and its effects run.</summary>
public sealed class SectionTests
{
    private const string Gate = "PoolGate";
    private const string Section = "PoolSection";

    /// <summary>Methods that are called without the gate, or only look.</summary>
    private static readonly HashSet<string> WithoutGate =
        ["Recycle", "CountStaleDispose", "NeedsValidation", "Unbegun", "ParkedForNothing"];

    [Fact]
    public void Every_section_of_a_pool_is_entered_by_using() => Problems.AssertNone(
        FindFaults(Core.Compilation, out int entered).Concat(entered < 30 ? [$"only {entered} sections were found"] : []),
        "Write using PoolSection<T> section = Gate.Enter(), or using (...) { }, and let its end leave the gate:");

    [Theory]
    [InlineData("PoolSection<string> section = gate.Enter(); section.WakeAt(1);")]
    [InlineData("gate.Enter().WakeAt(1);")]
    [InlineData("_ = gate.Enter(\"place\");")]
    [InlineData("Take(gate.Enter());")]
    [InlineData("using (PoolSection<string> section = gate.Enter()) { section.Dispose(); }")]
    [InlineData("gate.Leave();")]
    [InlineData("var section = new PoolSection<string>(gate, 1);")]
    [InlineData("PoolSection<string> section = default;")]
    [InlineData("PoolSection<string> section = new();")]
    [InlineData("using PoolSection<string> section = default(PoolSection<string>);")]
    [InlineData("Func<PoolSection<string>> enter = gate.Enter;")]
    public void Another_way_into_a_section_is_refused(string code) =>
        Assert.Contains(FindFaults(With(code), out _), IsOfSample);

    [Theory]
    [InlineData("using PoolSection<string> section = gate.Enter(); section.WakeAt(1);")]
    [InlineData("using (PoolSection<string> section = gate.Enter()) { Take(section); }")]
    [InlineData("using (gate.Enter(\"place\")) { }")]
    public void A_using_is_not_refused(string code) =>
        Assert.DoesNotContain(FindFaults(With(code), out _), IsOfSample);

    [Fact]
    public void What_the_gate_guards_is_touched_in_sections_only() => Problems.AssertNone(
        from type in Core.AllTypes
        where type.Name is "PoolState" or "ResourceGroup"
        from method in type.GetMembers().OfType<IMethodSymbol>()
        where method is { MethodKind: MethodKind.Ordinary, DeclaredAccessibility: Accessibility.Internal }
        where !WithoutGate.Contains(method.Name)
        where !method.Parameters.Any(static p => Is(p.Type, Section)) && !Text(method).Contains("AssertHeld", StringComparison.Ordinal)
        where !Text(method).Contains(".Enter(", StringComparison.Ordinal)
        select $"{type.Name}.{method.Name}",
        "Methods that neither take the section nor assert the gate:");

    private static List<string> FindFaults(CSharpCompilation compilation, out int entered)
    {
        var faults = new List<string>();
        entered = 0;
        foreach (SyntaxTree tree in compilation.SyntaxTrees.Where(static t => t.ToString().Contains("Section", StringComparison.Ordinal)))
        {
            SemanticModel model = compilation.GetSemanticModel(tree);
            foreach (SyntaxNode node in tree.GetRoot().DescendantNodes().Where(node => !IsWithin(node, Gate) && !IsWithin(node, Section)))
            {
                bool enters = MakesSection(node, model);
                entered += enters ? 1 : 0;
                if (enters ? !IsInUsing(node) : LeavesSection(node, model))
                {
                    faults.Add($"{tree.FilePath}:{node.GetLocation().GetLineSpan().StartLinePosition.Line + 1}: {node}");
                }
            }
        }

        return faults;
    }

    /// <summary>A call that enters, or a section that was not entered.</summary>
    private static bool MakesSection(SyntaxNode node, SemanticModel model) => node switch
    {
        InvocationExpressionSyntax or BaseObjectCreationExpressionSyntax or DefaultExpressionSyntax =>
            Is(model.GetTypeInfo(node).Type, Section),
        LiteralExpressionSyntax => node.IsKind(SyntaxKind.DefaultLiteralExpression) && Is(model.GetTypeInfo(node).Type, Section),
        SimpleNameSyntax => model.GetSymbolInfo(node).Symbol is IMethodSymbol method
            && Is(method.ReturnType, Section)
            && node.FirstAncestorOrSelf<InvocationExpressionSyntax>()?.Expression.Contains(node) != true,
        _ => false,
    };

    private static bool LeavesSection(SyntaxNode node, SemanticModel model) =>
        node is IdentifierNameSyntax { Identifier.Text: "Dispose" or "Leave" }
        && model.GetSymbolInfo(node).Symbol is IMethodSymbol method
        && (Is(method.ContainingType, Section) || Is(method.ContainingType, Gate));

    private static bool IsInUsing(SyntaxNode node) => node is InvocationExpressionSyntax && node.Parent switch
    {
        UsingStatementSyntax => true,
        EqualsValueClauseSyntax { Parent.Parent: VariableDeclarationSyntax declaration } =>
            declaration.Parent is UsingStatementSyntax
                || (declaration.Parent is LocalDeclarationStatementSyntax local && local.UsingKeyword.IsKind(SyntaxKind.UsingKeyword)),
        _ => false,
    };

    private static string Text(IMethodSymbol method) => method.DeclaringSyntaxReferences.Single().GetSyntax().ToString();

    private static bool Is(ITypeSymbol? type, string name) => type?.Name == name;

    private static bool IsWithin(SyntaxNode node, string type) =>
        node.FirstAncestorOrSelf<TypeDeclarationSyntax>()?.Identifier.Text == type;

    private static bool IsOfSample(string fault) => fault.StartsWith("sample", StringComparison.Ordinal);

    private static CSharpCompilation With(string code) => Core.Compilation.AddSyntaxTrees(CSharpSyntaxTree.ParseText(
        $$"""
        namespace Tidepool;

        internal static class Sample
        {
            internal static void Take(PoolSection<string> section) => section.WakeAt(1);

            internal static void Run(PoolGate<string> gate)
            {
                {{code}}
            }
        }
        """,
        Core.ParseOptions,
        path: "sample"));
}
