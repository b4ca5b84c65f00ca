using System.Reflection;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Tidepool.Models.Scheduling;
using Tidepool.Models.States;

namespace Tidepool.Models.Building;

/// <summary>Compiles the core and the scenarios anew: with points before every statement of the concurrent code, and with a bug.</summary>
internal static partial class ModelBuild
{
    private const string ImplicitUsings = """
        global using System; global using System.Collections.Generic; global using System.IO; global using System.Linq;
        global using System.Threading; global using System.Threading.Tasks;
        """;

    // ThreadTier and Trimmer work under a lock throughout.
    private static readonly string[] Instrumented =
    [
        "Memory/Tiers/Magazine.cs", "Memory/Tiers/Magazine.Slow.cs", "Memory/Tiers/Magazine.Overflow.cs",
        "Memory/Tiers/Magazine.Visit.cs", "Memory/Tiers/Magazine.Objects.cs", "Memory/Tiers/Magazine.Outbox.cs",
        "Memory/Tiers/Slot.cs", "Memory/Tiers/Inbox.cs", "Memory/Tiers/SharedTier.cs", "Memory/Tiers/Stripe.cs",
        "Memory/Tiers/ShortLock.cs",
        "Memory/Buffers/BufferCore.Return.cs", "Memory/Buffers/BufferCore.Rent.cs",
        "Memory/Leases/ObjectSlot.cs", "Memory/Objects/PooledObject.cs", "Memory/Tiers/TieredPool.Sequence.cs",
        "Memory/Tiers/TieredPool.Account.cs",
        "Memory/Objects/ObjectCore.Rent.cs", "Memory/Objects/ObjectCore.Return.cs",
        "Memory/Streams/PooledMemoryStream.cs", "Memory/Streams/PooledMemoryStream.Making.cs",
        "Memory/Streams/StreamCore.cs", "Memory/Streams/StreamCore.Changes.cs", "Memory/Streams/StreamCore.Writing.cs",
        "Resources/HotSlot.cs",
    ];

    // A planted bug may count beyond the end of a magazine: that must be an exception, and not a write to foreign memory.
    private static readonly Mutation BoundsCheck = Mutation.In("Items.At")
        .Replace("Unsafe.Add(ref Unsafe.As<Items, object?>(ref items), index)", "Span(ref items)[index]");

    private static readonly Lazy<SyntaxTree[]> Trees = new(ReadTrees);
    private static readonly Lazy<CSharpCompilation> Plain = new(() => Prepare(fine: false));
    private static readonly Lazy<CSharpCompilation> Fine = new(() => Prepare(fine: true));

    /// <summary>The core's files, with no points but those that stand in the source.</summary>
    internal static IEnumerable<SyntaxTree> Core => Trees.Value.Where(static t => t.FilePath.StartsWith("core/", StringComparison.Ordinal));

    /// <summary>Makes the scenario of the given type name, with a core of its own: it shares no static field with another one.</summary>
    /// <param name="scenario">The type's name.</param>
    /// <param name="fine">Whether there is a point before every statement; otherwise only those that stand in the source.</param>
    /// <param name="mutation">A bug, or null.</param>
    internal static IScenario Compile(string scenario, bool fine, Mutation? mutation = null) =>
        (IScenario)Make($"Tidepool.Models.Scenarios.{scenario}", fine, mutation);

    /// <summary>Makes the exploration of states, with a core of its own that has a bug.</summary>
    internal static IExploration CompileExploration(Mutation mutation) =>
        (IExploration)Make("Tidepool.Models.States.StateExploration", fine: false, mutation);

    private static object Make(string typeName, bool fine, Mutation? mutation)
    {
        CSharpCompilation sound = (fine ? Fine : Plain).Value;
        CSharpCompilation compilation = mutation is null ? sound : Exchange(sound, mutation.Apply(Core).SyntaxTree, fine);
        using var image = new MemoryStream();
        ThrowIfWrong(mutation?.ToString() ?? "The core", compilation.Emit(image).Diagnostics);
        Type type = Assembly.Load(image.ToArray()).GetType(typeName, throwOnError: true)!;
        return Activator.CreateInstance(type, nonPublic: true)!;
    }

    /// <summary>Compiles the method that a bug changes, and no other.</summary>
    /// <exception cref="InvalidOperationException">The mutation does not fit the core, or what it makes does not compile.</exception>
    internal static void Check(Mutation mutation)
    {
        MethodDeclarationSyntax changed = mutation.Apply(Core);
        CSharpCompilation compilation = Exchange(Plain.Value, changed.SyntaxTree, fine: false);
        ThrowIfWrong(mutation.ToString(), compilation.GetSemanticModel(changed.SyntaxTree).GetDiagnostics(changed.Span));
    }

    private static CSharpCompilation Exchange(CSharpCompilation sound, SyntaxTree changed, bool fine) => sound.ReplaceSyntaxTree(
        sound.SyntaxTrees.Single(t => t.FilePath == changed.FilePath),
        fine ? WithPoints(changed) : changed);

    private static void ThrowIfWrong(string what, IEnumerable<Diagnostic> diagnostics)
    {
        Diagnostic[] errors = [.. diagnostics.Where(static d => d.Severity == DiagnosticSeverity.Error).Take(20)];
        if (errors.Length > 0)
        {
            throw new InvalidOperationException($"{what} does not compile:\n{string.Join("\n", errors.AsEnumerable())}");
        }
    }

    /// <summary>The core without a bug, parsed once for all of them.</summary>
    private static CSharpCompilation Prepare(bool fine) => CSharpCompilation.Create(
        "Planted",
        Trees.Value.Select(t => fine ? WithPoints(t) : t).Prepend(CSharpSyntaxTree.ParseText(ImplicitUsings, CoreSyntax.Parsing)),
        ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(static f => Path.GetFileName(f).StartsWith("System.", StringComparison.Ordinal))
            .Append(typeof(ModelBuild).Assembly.Location)
            .Select(static f => MetadataReference.CreateFromFile(f)),
        new CSharpCompilationOptions(
            OutputKind.DynamicallyLinkedLibrary,
            allowUnsafe: true,
            optimizationLevel: OptimizationLevel.Release,
            nullableContextOptions: NullableContextOptions.Annotations));

    private static SyntaxTree WithPoints(SyntaxTree tree) => Instrumented.Contains(FileOf(tree))
        ? Parse(tree.FilePath, new PointInserter().Visit(tree.GetRoot())!.ToString())
        : tree;

    /// <summary>The file's name below <c>src/Tidepool</c>, the scenarios or the states.</summary>
    private static string FileOf(SyntaxTree tree) => tree.FilePath[(tree.FilePath.IndexOf('/', StringComparison.Ordinal) + 1)..];

    private static SyntaxTree Parse(string name, string text) => CSharpSyntaxTree.ParseText(text, CoreSyntax.Parsing, name);

    private static SyntaxTree[] ReadTrees()
    {
        Assembly assembly = typeof(ModelBuild).Assembly;
        var trees = new List<SyntaxTree>();
        foreach (string name in assembly.GetManifestResourceNames().Where(static n => n.EndsWith(".cs", StringComparison.Ordinal)))
        {
            using var reader = new StreamReader(assembly.GetManifestResourceStream(name)!);

            // No source generators run here; these imports have only blittable parameters.
            string text = Imports().Replace(
                reader.ReadToEnd(),
                "[System.Runtime.InteropServices.DllImport($1)] private static extern unsafe ");
            trees.Add(Parse(name.Replace('\\', '/'), text));
        }

        if (Instrumented.Except(trees.Select(FileOf)).FirstOrDefault() is { } missing)
        {
            throw new InvalidOperationException($"There is no file {missing}, which should have points: say where its code stands now.");
        }

        SyntaxTree bounded = BoundsCheck.Apply(trees).SyntaxTree;
        return [.. trees.Select(t => t.FilePath == bounded.FilePath ? bounded : t)];
    }

    [GeneratedRegex(@"\[LibraryImport\(([^)]*)\)\]\s*private static (?:unsafe )?partial ")]
    private static partial Regex Imports();
}
