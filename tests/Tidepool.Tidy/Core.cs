using System.Xml.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Tidepool.Tidy;

/// <summary>The sources of one library as a Roslyn compilation, made once for all rules that ask about code.</summary>
internal sealed class Library
{
    public static readonly Library Core = new("src/Tidepool/", Tidy.Core.PlatformReferences);

    private readonly Lazy<CSharpCompilation> _compiled;

    private Library(string folder, IEnumerable<MetadataReference> others, params Library[] references)
    {
        Folder = folder;
        _compiled = new(() => Compile(folder, others, references));
    }

    /// <summary>All libraries that ship, the core first.</summary>
    public static IReadOnlyList<Library> All { get; } =
    [
        Core,
        new("src/Tidepool.Native/", Tidy.Core.PlatformReferences, Core),
        new("src/Tidepool.Extensions/", Tidy.Core.HostReferences, Core),
        new("src/Tidepool.AspNetCore/", Tidy.Core.HostReferences, Core),
        new("src/Tidepool.EntityFrameworkCore/", Tidy.Core.HostReferences, Core),
    ];

    public string Folder { get; }

    public CSharpCompilation Compilation => _compiled.Value;

    /// <summary>Public and protected types, with the nested ones.</summary>
    public IEnumerable<INamedTypeSymbol> PublicTypes => AllTypes.Where(Tidy.Core.IsVisible);

    /// <summary>Every type that the sources declare.</summary>
    public IEnumerable<INamedTypeSymbol> AllTypes => Tidy.Core.TypesOf(Compilation.Assembly.GlobalNamespace);

    private static CSharpCompilation Compile(string folder, IEnumerable<MetadataReference> others, Library[] references)
    {
        IEnumerable<SyntaxTree> trees = Repository.Under(folder, ".cs")
            .Select(file => CSharpSyntaxTree.ParseText(Repository.Read(file), Tidy.Core.ParseOptions, path: file));
        var options = new CSharpCompilationOptions(
            OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true, nullableContextOptions: NullableContextOptions.Enable);
        CSharpCompilation compilation = CSharpCompilation.Create(
            Path.GetFileName(folder.TrimEnd('/')),
            [.. trees, Tidy.Core.GlobalUsings, FriendsOf(folder)],
            [.. others, .. references.Select(library => library.Compilation.ToMetadataReference())],
            options);
        Problems.AssertNone(
            compilation.GetDiagnostics().Where(d => d.Severity == DiagnosticSeverity.Error && !Tidy.Core.LeftToGenerators.Contains(d.Id))
                .Select(d => d.ToString()),
            $"The rules read {folder} with Roslyn, and it does not compile there:");
        return compilation;
    }

    /// <summary>The assemblies that see the internals of a library: its project names them, and the build makes attributes of it.</summary>
    private static SyntaxTree FriendsOf(string folder)
    {
        XDocument project = XDocument.Load(Repository.Path(Repository.Under(folder, ".csproj").Single()));
        return CSharpSyntaxTree.ParseText(
            string.Concat(project.Descendants("InternalsVisibleTo").Select(
                friend => $"[assembly: System.Runtime.CompilerServices.InternalsVisibleTo(\"{friend.Attribute("Include")!.Value}\")]\n")),
            Tidy.Core.ParseOptions);
    }
}

/// <summary>The core library, and what all compilations share.</summary>
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

    /// <summary>Everything that a plain console program can reference.</summary>
    public static IReadOnlyList<MetadataReference> PlatformReferences { get; } = References(
        path => Path.GetDirectoryName(path) == Path.GetDirectoryName(typeof(object).Assembly.Location));

    /// <summary>The platform, ASP.NET Core and the packages of the libraries for hosts, which this project has too.</summary>
    public static IReadOnlyList<MetadataReference> HostReferences { get; } = References(
        path => !Path.GetFileName(path).StartsWith("Tidepool.", StringComparison.Ordinal));

    public static CSharpParseOptions ParseOptions { get; } =
        new(LanguageVersion.Latest, DocumentationMode.Diagnose, preprocessorSymbols: ["NET", "NET10_0", "NET10_0_OR_GREATER", "RELEASE"]);

    public static SyntaxTree GlobalUsings { get; } = CSharpSyntaxTree.ParseText(ImplicitUsings, ParseOptions);

    /// <summary>
    /// A partial method without a body, and what it would have assigned: source generators write those, and they do not run here.
    /// That the whole compiles is the build's business.
    /// </summary>
    public static readonly string[] LeftToGenerators = ["CS8795", "CS0165"];

    public static CSharpCompilation Compilation => Library.Core.Compilation;

    /// <summary>Every type that the sources declare.</summary>
    public static IEnumerable<INamedTypeSymbol> AllTypes => Library.Core.AllTypes;

    private static IReadOnlyList<MetadataReference> References(Func<string, bool> isOne) =>
        [.. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(isOne)
            .Select(path => MetadataReference.CreateFromFile(path))];

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

    public static IEnumerable<INamedTypeSymbol> TypesOf(INamespaceOrTypeSymbol container)
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
}
