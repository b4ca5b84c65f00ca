using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Tidy;

/// <summary>What is not public and not named anywhere else is dead.</summary>
public sealed class UnusedTests
{
    [Fact]
    public void Every_member_that_is_not_public_is_named_somewhere_else()
    {
        SyntaxNode[] roots =
        [
            .. from file in Repository.Under("", ".cs")
               where !file.StartsWith("docs/", StringComparison.Ordinal)
               select CSharpSyntaxTree.ParseText(Repository.Read(file), Core.ParseOptions, path: file).GetRoot(),
        ];
        ILookup<string, SyntaxToken> named = roots.SelectMany(root => root.DescendantTokens(descendIntoTrivia: false))
            .Where(token => token.IsKind(SyntaxKind.IdentifierToken))
            .ToLookup(token => token.ValueText);
        Problems.AssertNone(
            from root in roots
            where root.SyntaxTree.FilePath.StartsWith("src/", StringComparison.Ordinal)
            from member in root.DescendantNodes().OfType<MemberDeclarationSyntax>()
            where !IsUsedFromOutside(member)
            from name in NamesOf(member)
            where named[name.ValueText].All(IsDeclaration)
            select $"{root.SyntaxTree.FilePath}:{name.GetLocation().GetLineSpan().StartLinePosition.Line + 1}: {name.ValueText}",
            "Members that nothing uses:");
    }

    /// <summary>
    /// Public members, what an attribute calls, classes of extension methods, and what fulfils a contract: an interface, the list of labs,
    /// which is found by reflection, the structs of the C header, the type that a runtime asks for by its name.
    /// </summary>
    private static bool IsUsedFromOutside(MemberDeclarationSyntax member) =>
        member.Modifiers.Any(
            modifier => modifier.Kind() is SyntaxKind.PublicKeyword or SyntaxKind.ProtectedKeyword or SyntaxKind.OverrideKeyword)
        || member.AttributeLists.Count > 0
        || member is MethodDeclarationSyntax { ExplicitInterfaceSpecifier: not null }
        || member is PropertyDeclarationSyntax { ExplicitInterfaceSpecifier: not null }
        || member is ClassDeclarationSyntax { Modifiers: var modifiers } container
            && modifiers.Any(SyntaxKind.StaticKeyword)
            && container.Members.OfType<MethodDeclarationSyntax>().Any(IsExtension)
        || member is ClassDeclarationSyntax { BaseList: { } bases } && bases.Types.Any(type => type.ToString() == "ILab")
        || member is ClassDeclarationSyntax { Identifier.ValueText: "StartupHook" }
        || member.Parent is StructDeclarationSyntax { Identifier.ValueText: ['t', 'p', '_', ..] }
        || member.Parent is InterfaceDeclarationSyntax or EnumDeclarationSyntax;

    private static bool IsExtension(MethodDeclarationSyntax method) =>
        method.ParameterList.Parameters is [{ Modifiers: var modifiers }, ..] && modifiers.Any(SyntaxKind.ThisKeyword);

    private static IEnumerable<SyntaxToken> NamesOf(MemberDeclarationSyntax member) => member switch
    {
        MethodDeclarationSyntax method => [method.Identifier],
        PropertyDeclarationSyntax property => [property.Identifier],
        FieldDeclarationSyntax field => field.Declaration.Variables.Select(variable => variable.Identifier),
        BaseTypeDeclarationSyntax type => [type.Identifier],
        _ => [],
    };

    private static bool IsDeclaration(SyntaxToken token) =>
        token.Parent is MethodDeclarationSyntax or PropertyDeclarationSyntax or BaseTypeDeclarationSyntax
            or ConstructorDeclarationSyntax or DestructorDeclarationSyntax
            or VariableDeclaratorSyntax { Parent.Parent: FieldDeclarationSyntax };
}
