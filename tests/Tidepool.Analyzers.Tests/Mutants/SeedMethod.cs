using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Tidepool.Analyzers.Tests.Harness;

namespace Tidepool.Analyzers.Tests.Mutants;

/// <summary>A correct method alone in its type, with what it rents and where that goes back.</summary>
internal sealed class SeedMethod
{
    private static readonly HashSet<string> s_rents = ["Rent", "RentAsync", "RentRaw", "Get"];

    private SeedMethod(string code, string file)
    {
        CSharpCompilation compilation = Analysis.Compile(code, file);
        SyntaxTree tree = compilation.SyntaxTrees[^1];
        File = file;
        Root = tree.GetRoot();
        Method = Root.DescendantNodes().OfType<MethodDeclarationSyntax>().Single(one => StyleOf(one) is not null);
        Style = StyleOf(Method)!;
        Rentals = [.. FindRentals(compilation.GetSemanticModel(tree))];
    }

    public string File { get; }

    public SyntaxNode Root { get; }

    public MethodDeclarationSyntax Method { get; }

    public string Style { get; }

    public IReadOnlyList<SeedRental> Rentals { get; }

    public string Code => Root.ToFullString();

    public static IEnumerable<SeedMethod> All() =>
        from file in Sources.In("seeds")
        let root = CSharpSyntaxTree.ParseText(Sources.Read(file)).GetRoot()
        from method in root.DescendantNodes().OfType<MethodDeclarationSyntax>()
        where StyleOf(method) is not null
        let others = root.DescendantNodes().OfType<MethodDeclarationSyntax>().Where(one => one != method && StyleOf(one) is not null)
        select new SeedMethod(root.RemoveNodes(others, SyntaxRemoveOptions.KeepNoTrivia)!.ToFullString(), file);

    private static string? StyleOf(MethodDeclarationSyntax method) =>
        method.AttributeLists.SelectMany(list => list.Attributes)
            .Where(attribute => attribute.Name.ToString() == "Seed")
            .Select(attribute => ((LiteralExpressionSyntax)attribute.ArgumentList!.Arguments[0].Expression).Token.ValueText)
            .SingleOrDefault();

    private IEnumerable<SeedRental> FindRentals(SemanticModel model)
    {
        var names = new Dictionary<string, (ITypeSymbol Type, ExpressionSyntax Call)>();
        foreach (InvocationExpressionSyntax call in Method.DescendantNodes().OfType<InvocationExpressionSyntax>())
        {
            if (call.Expression is MemberAccessExpressionSyntax { Name.Identifier.ValueText: var called } && s_rents.Contains(called)
                && Target(call) is { } target)
            {
                VariableDeclaratorSyntax local = Method.DescendantNodes().OfType<VariableDeclaratorSyntax>()
                    .First(one => one.Identifier.ValueText == target);
                names[target] = (((ILocalSymbol)model.GetDeclaredSymbol(local)!).Type, call);
            }
        }

        return from name in names
               where Copied(name.Key) is null
               let aliases = names.Keys.Where(other => Copied(other) == name.Key).Prepend(name.Key).ToArray()
               select new SeedRental(Method, aliases, name.Value.Type, name.Value.Call);
    }

    /// <summary>The local to which the rented value goes.</summary>
    private static string? Target(SyntaxNode call) => call.Ancestors()
        .TakeWhile(one => one is not StatementSyntax || one is LocalDeclarationStatementSyntax)
        .Select(one => one switch
        {
            VariableDeclaratorSyntax declarator => declarator.Identifier.ValueText,
            AssignmentExpressionSyntax { Left: IdentifierNameSyntax local } when local.Identifier.ValueText[0] != '_' =>
                local.Identifier.ValueText,
            _ => null,
        })
        .FirstOrDefault(name => name is not null);

    /// <summary>The older local that takes over this one, as in <c>buffer = larger</c>.</summary>
    private string? Copied(string name) => Method.DescendantNodes().OfType<AssignmentExpressionSyntax>()
        .Where(one => one.Right is IdentifierNameSyntax right && right.Identifier.ValueText == name)
        .Select(one => (one.Left as IdentifierNameSyntax)?.Identifier.ValueText)
        .FirstOrDefault();
}
