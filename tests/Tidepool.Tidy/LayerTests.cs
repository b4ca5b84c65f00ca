using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Tidy;

/// <summary>Folders of src/Tidepool are layers; the table in src/README.md says which folder may use which.</summary>
public sealed class LayerTests
{
    [Fact]
    public void Imports_obey_the_layer_table()
    {
        LayerTable table = LayerTable.Read("src/README.md");
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
                    if (!table.Allows(from, to))
                    {
                        problems.Add(
                            $"{tree.FilePath}:{name.GetLocation().GetLineSpan().StartLinePosition.Line + 1} ({table.LayerOf(from)}) uses "
                                + $"{name} of {file} ({table.LayerOf(to)})");
                    }
                }
            }
        }
        Problems.AssertNone(
            problems,
            "A layer uses only what its row in src/README.md allows. Move the common part down, or the caller up:");
    }

    [Fact]
    public void Every_folder_of_the_core_is_in_the_layer_table()
    {
        LayerTable table = LayerTable.Read("src/README.md");
        IEnumerable<string> folders = Repository.Under(Core.Folder, ".cs").Select(FolderOf).Distinct();
        Problems.AssertNone(folders.Except(table.Folders), "Folders of src/Tidepool without a row in src/README.md:");
    }

    /// <summary>Where the type behind a symbol is declared: none for types of the platform, several for a partial type.</summary>
    private static IEnumerable<string> DeclaringFiles(ISymbol? symbol)
    {
        INamedTypeSymbol? type = symbol as INamedTypeSymbol ?? symbol?.ContainingType;
        return type is null ? [] : type.OriginalDefinition.DeclaringSyntaxReferences.Select(r => r.SyntaxTree.FilePath).Distinct();
    }

    private static string FolderOf(string file) => file[Core.Folder.Length..].Split('/')[0];
}
