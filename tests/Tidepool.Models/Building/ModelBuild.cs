using System.Reflection;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Building;

/// <summary>Compiles the core and the scenarios anew, with points before every statement of the concurrent code and with bugs where asked for.</summary>
internal static partial class ModelBuild
{
    private const string ImplicitUsings = """
        global using System; global using System.Collections.Generic; global using System.IO; global using System.Linq;
        global using System.Threading; global using System.Threading.Tasks;
        """;

    // ThreadTier and Trimmer work under a lock throughout.
    private static readonly string[] Instrumented =
    [
        "Tiers/Magazine.cs", "Tiers/Magazine.Slow.cs", "Tiers/Magazine.Visit.cs", "Tiers/Slot.cs", "Tiers/Inbox.cs", "Tiers/SharedTier.cs",
        "Tiers/Stripe.cs", "Buffers/BufferCore.Return.cs", "Buffers/BufferCore.Rent.cs", "Tiers/Magazine.Objects.cs", "Leases/ObjectSlot.cs",
        "Objects/PooledObject.cs", "Objects/ItemStation.cs", "Objects/ObjectCore.Rent.cs", "Objects/ObjectCore.Return.cs",
        "Streams/PooledMemoryStream.cs", "Streams/PooledMemoryStream.Making.cs", "Streams/StreamCore.cs", "Streams/StreamCore.Changes.cs", "Streams/StreamCore.Writing.cs",
    ];

    // A planted bug may count beyond the end of a magazine: that must be an exception, and not a write to somebody's memory.
    private static readonly Mutation Places = new(
        "Tiers/Items.cs", "ref Unsafe.Add(ref Unsafe.As<Items, object?>(ref items), index)", "ref Span(ref items)[index]");

    // No documentation is read and no nullable flow is followed: the ordinary build has looked at both.
    private static readonly CSharpParseOptions Parsing = new(
        LanguageVersion.Latest, DocumentationMode.None, preprocessorSymbols: ["TIDEPOOL_MODEL", "NET10_0", "NET10_0_OR_GREATER", "NET"]);

    private static readonly Dictionary<string, string> Texts = ReadTexts();
    private static readonly Lazy<CSharpCompilation> Plain = new(() => Prepare(fine: false));
    private static readonly Lazy<CSharpCompilation> Fine = new(() => Prepare(fine: true));

    /// <summary>Makes the scenario of the given type name, with a core of its own: it shares no static field with another one.</summary>
    /// <param name="scenario">The type's name.</param>
    /// <param name="fine">Whether there is a point before every statement; otherwise only those that stand in the source.</param>
    /// <param name="mutation">A bug, or null.</param>
    internal static IScenario Compile(string scenario, bool fine, Mutation? mutation = null)
    {
        CSharpCompilation sound = (fine ? Fine : Plain).Value;
        Assembly core = Load(mutation is null ? sound : Plant(sound, mutation, fine));
        return (IScenario)Activator.CreateInstance(core.GetType($"Tidepool.Models.Scenarios.{scenario}", throwOnError: true)!, nonPublic: true)!;
    }

    private static CSharpCompilation Plant(CSharpCompilation sound, Mutation mutation, bool fine)
    {
        string name = $"core/{mutation.File}";
        SyntaxTree tree = sound.SyntaxTrees.Single(t => t.FilePath == name);
        return sound.ReplaceSyntaxTree(tree, Parse(name, mutation.Apply(Texts[name]), fine));
    }

    private static Assembly Load(CSharpCompilation compilation)
    {
        using var image = new MemoryStream();
        var result = compilation.Emit(image);
        if (!result.Success)
        {
            throw new InvalidOperationException(string.Join("\n", result.Diagnostics.Where(static d => d.Severity == DiagnosticSeverity.Error).Take(20)));
        }

        return Assembly.Load(image.ToArray());
    }

    /// <summary>The core without a bug, parsed once for all of them.</summary>
    private static CSharpCompilation Prepare(bool fine) => CSharpCompilation.Create(
        "Planted",
        Texts.Select(t => Parse(t.Key, t.Value, fine)).Prepend(CSharpSyntaxTree.ParseText(ImplicitUsings, Parsing)),
        ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(static f => Path.GetFileName(f).StartsWith("System.", StringComparison.Ordinal))
            .Append(typeof(ModelBuild).Assembly.Location)
            .Select(static f => MetadataReference.CreateFromFile(f)),
        new CSharpCompilationOptions(
            OutputKind.DynamicallyLinkedLibrary,
            allowUnsafe: true,
            optimizationLevel: OptimizationLevel.Release,
            nullableContextOptions: NullableContextOptions.Annotations));

    private static SyntaxTree Parse(string name, string text, bool fine)
    {
        string file = name[(name.IndexOf('/', StringComparison.Ordinal) + 1)..];
        string changed = file == Places.File ? Places.Apply(text) : text;

        // No source generators run here; these imports have only blittable parameters.
        changed = Imports().Replace(changed, "[System.Runtime.InteropServices.DllImport($1)]\n    private static extern unsafe ");
        if (fine && Instrumented.Contains(file))
        {
            changed = new PointInserter().Visit(CSharpSyntaxTree.ParseText(changed, Parsing).GetRoot())!.ToString();
        }

        return CSharpSyntaxTree.ParseText(changed, Parsing, name);
    }

    private static Dictionary<string, string> ReadTexts()
    {
        Assembly assembly = typeof(ModelBuild).Assembly;
        var texts = new Dictionary<string, string>();
        foreach (string name in assembly.GetManifestResourceNames().Where(static n => n.EndsWith(".cs", StringComparison.Ordinal)))
        {
            using var reader = new StreamReader(assembly.GetManifestResourceStream(name)!);
            texts.Add(name.Replace('\\', '/'), reader.ReadToEnd());
        }

        return texts;
    }

    [GeneratedRegex(@"\[LibraryImport\(([^)]*)\)\]\s*private static (?:unsafe )?partial ")]
    private static partial Regex Imports();
}
