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
            string from = FolderOf(table, tree.FilePath);
            SemanticModel model = Core.Compilation.GetSemanticModel(tree);
            foreach (NameSyntax name in tree.GetRoot().DescendantNodes().OfType<NameSyntax>())
            {
                foreach (string file in DeclaringFiles(model.GetSymbolInfo(name).Symbol))
                {
                    string to = FolderOf(table, file);
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
    public void Neither_wing_uses_the_other()
    {
        LayerTable table = LayerTable.Read("src/README.md");
        Problems.AssertNone(
            from folder in table.Folders
            from other in table.Folders
            let wings = new[] { table.LayerOf(folder)[0], table.LayerOf(other)[0] }
            where wings is ['M', 'R'] or ['R', 'M'] && table.Allows(folder, other)
            select $"{folder} may use {other}",
            "Rows of src/README.md that join the wings:");
    }

    [Fact]
    public void Every_folder_of_the_core_is_in_the_layer_table()
    {
        LayerTable table = LayerTable.Read("src/README.md");
        IEnumerable<string> folders = Repository.Under(Core.Folder, ".cs").Select(file => FolderOf(table, file)).Distinct();
        Problems.AssertSame(table.Folders, folders, "Folders of src/Tidepool and rows of src/README.md:");
    }

    /// <summary>Where the type behind a symbol is declared: none for types of the platform, several for a partial type.</summary>
    private static IEnumerable<string> DeclaringFiles(ISymbol? symbol)
    {
        INamedTypeSymbol? type = symbol as INamedTypeSymbol ?? symbol?.ContainingType;
        return type is null ? [] : type.OriginalDefinition.DeclaringSyntaxReferences.Select(r => r.SyntaxTree.FilePath).Distinct();
    }

    private static string FolderOf(LayerTable table, string file) => table.FolderOf(file[Core.Folder.Length..]);
}
