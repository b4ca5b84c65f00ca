using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Models.Building;

/// <summary>Reads the core's source and finds a method in it, whatever file it stands in.</summary>
internal static class CoreSyntax
{
    private const int MostNear = 6;

    /// <summary>How source is parsed, without its documentation, which the ordinary build has read.</summary>
    internal static CSharpParseOptions Parsing { get; } = new(
        LanguageVersion.Latest, DocumentationMode.None, preprocessorSymbols: ["TIDEPOOL_MODEL", "NET10_0", "NET10_0_OR_GREATER", "NET"]);

    /// <summary>Finds the only method of a name.</summary>
    /// <param name="files">Where to look.</param>
    /// <param name="name"><c>Type.Method</c>, or <c>Type.Method(first, second)</c> with the names of the parameters.</param>
    /// <exception cref="InvalidOperationException">There is none, or more than one; the message says which are near.</exception>
    internal static MethodDeclarationSyntax FindMethod(IEnumerable<SyntaxTree> files, string name)
    {
        MethodDeclarationSyntax[] all = [.. files.SelectMany(static f => MethodsOf(f.GetRoot()))];
        MethodDeclarationSyntax[] found =
            [.. all.Where(m => name.Contains(m.Identifier.Text, StringComparison.Ordinal) && (name == NameOf(m) || name == FullNameOf(m)))];
        return found.Length switch
        {
            1 => found[0],
            0 => throw new InvalidOperationException(
                $"there is no method {name}; near are {string.Join(", ", Near(name, all.Select(NameOf)))}"),
            _ => throw new InvalidOperationException($"{name} may be {string.Join(", ", found.Select(FullNameOf))}"),
        };
    }

    private static IEnumerable<MethodDeclarationSyntax> MethodsOf(SyntaxNode root) => root
        .DescendantNodes(static n => n is CompilationUnitSyntax or BaseNamespaceDeclarationSyntax or TypeDeclarationSyntax)
        .OfType<MethodDeclarationSyntax>();

    private static string NameOf(MethodDeclarationSyntax method) =>
        $"{((BaseTypeDeclarationSyntax)method.Parent!).Identifier.Text}.{method.Identifier.Text}";

    private static string FullNameOf(MethodDeclarationSyntax method) =>
        $"{NameOf(method)}({string.Join(", ", method.ParameterList.Parameters.Select(static p => p.Identifier.Text))})";

    private static IEnumerable<string> Near(string name, IEnumerable<string> names) =>
        names.Distinct().OrderByDescending(n => Likeness(name, n)).Take(MostNear);

    /// <summary>The share of pairs of neighbouring letters that two names have in common.</summary>
    private static double Likeness(string one, string other)
    {
        HashSet<string> pairs = Pairs(one);
        HashSet<string> others = Pairs(other);
        return 2.0 * pairs.Intersect(others).Count() / (pairs.Count + others.Count);
    }

    private static HashSet<string> Pairs(string name)
    {
        string upper = name.ToUpperInvariant();
        return [.. upper.Zip(upper.Skip(1), static (a, b) => $"{a}{b}")];
    }
}
