using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Tidy;

/// <summary>Folders of src/Tidepool are layers; the table in src/README.md says which folder may use which.</summary>
public sealed partial class LayerTests
{
    [Fact]
    public void Imports_obey_the_layer_table()
    {
        Dictionary<string, string> layers = ReadLayers(out Dictionary<string, HashSet<string>> allowed);
        var problems = new SortedSet<string>(StringComparer.Ordinal);
        foreach (SyntaxTree tree in Core.Compilation.SyntaxTrees.Where(t => t.FilePath.Length > 0))
        {
            string from = FolderOf(tree.FilePath);
            SemanticModel model = Core.Compilation.GetSemanticModel(tree);
            foreach (NameSyntax name in tree.GetRoot().DescendantNodes().OfType<NameSyntax>())
            {
                foreach (string file in DeclaringFiles(model.GetSymbolInfo(name).Symbol))
                {
                    string to = FolderOf(file);
                    if (from != to && !allowed[layers[from]].Contains(layers[to]))
                    {
                        problems.Add($"{tree.FilePath}:{name.GetLocation().GetLineSpan().StartLinePosition.Line + 1} ({layers[from]}) uses {name} of {file} ({layers[to]})");
                    }
                }
            }
        }
        Problems.AssertNone(problems, "A layer uses only what its row in src/README.md allows. Move the common part down, or the caller up:");
    }

    [Fact]
    public void Every_folder_of_the_core_is_in_the_layer_table()
    {
        Dictionary<string, string> layers = ReadLayers(out _);
        IEnumerable<string> folders = Repository.Under(Core.Folder, ".cs").Select(FolderOf).Distinct();
        Problems.AssertNone(folders.Where(folder => !layers.ContainsKey(folder)), "Folders of src/Tidepool without a row in src/README.md:");
    }

    /// <summary>Where the type behind a symbol is declared: none for types of the platform, several for a partial type.</summary>
    private static IEnumerable<string> DeclaringFiles(ISymbol? symbol)
    {
        INamedTypeSymbol? type = symbol as INamedTypeSymbol ?? symbol?.ContainingType;
        return type is null ? [] : type.OriginalDefinition.DeclaringSyntaxReferences.Select(r => r.SyntaxTree.FilePath).Distinct();
    }

    private static string FolderOf(string file) => file[Core.Folder.Length..].Split('/')[0];

    /// <summary>Rows such as "| L3 | `Leases/` | ... | L0, L2 |" or "... | L0 to L3 |".</summary>
    private static Dictionary<string, string> ReadLayers(out Dictionary<string, HashSet<string>> allowed)
    {
        var layers = new Dictionary<string, string>();
        allowed = [];
        foreach (Match row in LayerRow().Matches(Repository.Read("src/README.md")))
        {
            string layer = row.Groups["layer"].Value;
            layers.Add(row.Groups["folder"].Value, layer);
            int[] named = [.. LayerName().Matches(row.Groups["uses"].Value).Select(m => int.Parse(m.Value[1..]))];
            IEnumerable<int> uses = row.Groups["uses"].Value.Contains(" to ", StringComparison.Ordinal)
                ? Enumerable.Range(named[0], named[^1] - named[0] + 1)
                : named;
            allowed[layer] = [.. uses.Select(number => $"L{number}")];
        }
        Assert.NotEmpty(layers);
        return layers;
    }

    [GeneratedRegex(@"^\| (?<layer>L\d) \| `(?<folder>\w+)/` \| [^|]* \| (?<uses>[^|]*) \|$", RegexOptions.Multiline)]
    private static partial Regex LayerRow();

    [GeneratedRegex(@"L\d")]
    private static partial Regex LayerName();
}
