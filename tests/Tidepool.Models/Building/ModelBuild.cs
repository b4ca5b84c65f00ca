using System.Reflection;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Text;
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

    private static readonly Lazy<IReadOnlyList<MetadataReference>> References = new(() =>
        ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
        .Where(static f => Path.GetFileName(f).StartsWith("System.", StringComparison.Ordinal))
        .Append(typeof(ModelBuild).Assembly.Location)
        .Select(static MetadataReference (f) => MetadataReference.CreateFromFile(f))
        .ToList());

    /// <summary>Makes the scenario of the given type name.</summary>
    /// <param name="scenario">The type's name.</param>
    /// <param name="fine">Whether there is a point before every statement; otherwise only those that stand in the source.</param>
    /// <param name="mutation">A bug, or null.</param>
    internal static IScenario Compile(string scenario, bool fine, Mutation? mutation = null)
    {
        var options = new CSharpParseOptions(LanguageVersion.Latest, preprocessorSymbols: ["TIDEPOOL_MODEL", "NET10_0", "NET10_0_OR_GREATER", "NET"]);
        var trees = new List<SyntaxTree> { CSharpSyntaxTree.ParseText(ImplicitUsings, options) };
        foreach ((string name, string text) in Texts())
        {
            string file = name[(name.IndexOf('/', StringComparison.Ordinal) + 1)..];
            string changed = mutation is not null && mutation.File == file ? mutation.Apply(text) : text;

            if (file == Places.File)
            {
                changed = Places.Apply(changed);
            }

            // No source generators run here; these imports have only blittable parameters.
            changed = Imports().Replace(changed, "[System.Runtime.InteropServices.DllImport($1)]\n    private static extern unsafe ");
            SyntaxNode root = CSharpSyntaxTree.ParseText(changed, options).GetRoot();
            root = fine && Instrumented.Contains(file) ? new PointInserter().Visit(root) : root;
            trees.Add(CSharpSyntaxTree.Create((CSharpSyntaxNode)root, options, name));
        }

        var compilation = CSharpCompilation.Create(
            $"Planted.{Guid.NewGuid():N}",
            trees.Select(t => CSharpSyntaxTree.ParseText(SourceText.From(t.ToString()), options, t.FilePath)),
            References.Value,
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true, optimizationLevel: OptimizationLevel.Release, nullableContextOptions: NullableContextOptions.Enable));
        using var image = new MemoryStream();
        var result = compilation.Emit(image);
        if (!result.Success)
        {
            throw new InvalidOperationException(string.Join("\n", result.Diagnostics.Where(static d => d.Severity == DiagnosticSeverity.Error).Take(20)));
        }

        Type type = Assembly.Load(image.ToArray()).GetType($"Tidepool.Models.Scenarios.{scenario}", throwOnError: true)!;
        return (IScenario)Activator.CreateInstance(type, nonPublic: true)!;
    }

    private static IEnumerable<(string Name, string Text)> Texts()
    {
        Assembly assembly = typeof(ModelBuild).Assembly;
        foreach (string name in assembly.GetManifestResourceNames())
        {
            if (name.EndsWith(".cs", StringComparison.Ordinal))
            {
                using var reader = new StreamReader(assembly.GetManifestResourceStream(name)!);
                yield return (name.Replace('\\', '/'), reader.ReadToEnd());
            }
        }
    }

    [GeneratedRegex(@"\[LibraryImport\(([^)]*)\)\]\s*private static (?:unsafe )?partial ")]
    private static partial Regex Imports();
}
