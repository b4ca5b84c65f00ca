using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Tidepool.Tidy;

/// <summary>The sources of src/Tidepool as one Roslyn compilation, made once for all rules that ask about code.</summary>
internal static class Core
{
    public const string Folder = "src/Tidepool/";

    private const string ImplicitUsings =
        """
        global using System;
        global using System.Collections.Generic;
        global using System.IO;
        global using System.Linq;
        global using System.Net.Http;
        global using System.Threading;
        global using System.Threading.Tasks;
        """;

    /// <summary>Everything that a plain console program can reference, and the core assembly as built.</summary>
    public static IReadOnlyList<MetadataReference> PlatformReferences { get; } =
        [.. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(path => Path.GetDirectoryName(path) == Path.GetDirectoryName(typeof(object).Assembly.Location))
            .Select(path => MetadataReference.CreateFromFile(path))];

    public static CSharpParseOptions ParseOptions { get; } =
        new(LanguageVersion.Latest, DocumentationMode.Diagnose, preprocessorSymbols: ["NET", "NET10_0", "NET10_0_OR_GREATER", "RELEASE"]);

    public static SyntaxTree GlobalUsings { get; } = CSharpSyntaxTree.ParseText(ImplicitUsings, ParseOptions);

    /// <summary>
    /// A partial method without a body, and what it would have assigned: source generators write those, and they do not run here.
    /// That the whole compiles is the build's business.
    /// </summary>
    private static readonly string[] LeftToGenerators = ["CS8795", "CS0165"];

    private static readonly Lazy<CSharpCompilation> Compiled = new(Compile);

    public static CSharpCompilation Compilation => Compiled.Value;

    /// <summary>Public and protected types, with the nested ones.</summary>
    public static IEnumerable<INamedTypeSymbol> PublicTypes => AllTypes.Where(IsVisible);

    /// <summary>Every type that the sources declare.</summary>
    public static IEnumerable<INamedTypeSymbol> AllTypes => TypesOf(Compilation.Assembly.GlobalNamespace);

    public static bool IsVisible(ISymbol symbol)
    {
        for (ISymbol? s = symbol; s is not null and not INamespaceSymbol; s = s.ContainingSymbol)
        {
            if (s.DeclaredAccessibility is not (Accessibility.Public or Accessibility.Protected or Accessibility.ProtectedOrInternal))
            {
                return false;
            }
        }
        return true;
    }

    private static IEnumerable<INamedTypeSymbol> TypesOf(INamespaceOrTypeSymbol container)
    {
        foreach (INamespaceOrTypeSymbol member in container.GetMembers().OfType<INamespaceOrTypeSymbol>())
        {
            if (member is INamedTypeSymbol { IsImplicitlyDeclared: false } type)
            {
                yield return type;
            }
            foreach (INamedTypeSymbol nested in TypesOf(member))
            {
                yield return nested;
            }
        }
    }

    private static CSharpCompilation Compile()
    {
        IEnumerable<SyntaxTree> trees = Repository.Under(Folder, ".cs")
            .Select(file => CSharpSyntaxTree.ParseText(Repository.Read(file), ParseOptions, path: file));
        var options = new CSharpCompilationOptions(
            OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true, nullableContextOptions: NullableContextOptions.Enable);
        CSharpCompilation compilation = CSharpCompilation.Create("Tidepool", trees.Append(GlobalUsings), PlatformReferences, options);
        Problems.AssertNone(
            compilation.GetDiagnostics().Where(d => d.Severity == DiagnosticSeverity.Error && !LeftToGenerators.Contains(d.Id)).Select(d => d.ToString()),
            "The rules read src/Tidepool with Roslyn, and it does not compile there:");
        return compilation;
    }
}
