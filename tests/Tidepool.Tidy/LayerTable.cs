using System.Text.RegularExpressions;

namespace Tidepool.Tidy;

/// <summary>A table of layers on a page: which folder is in which layer, and which layers each may use.</summary>
/// <remarks>Rows such as "| L3 | `heap/` | what lives there | L0 to L2 |" or "... | D0, M1 to M3 |".</remarks>
internal sealed partial class LayerTable
{
    private readonly Dictionary<string, string> _layers = [];
    private readonly Dictionary<string, HashSet<string>> _allowed = [];

    public IReadOnlyCollection<string> Folders => _layers.Keys;

    public static LayerTable Read(string page)
    {
        var table = new LayerTable();
        foreach (Match row in LayerRow().Matches(Repository.Read(page)))
        {
            table._layers.Add(row.Groups["folder"].Value, row.Groups["layer"].Value);
            table._allowed[row.Groups["folder"].Value] = [.. Layers().Matches(row.Groups["uses"].Value).SelectMany(LayersOf)];
        }
        Assert.NotEmpty(table._layers);
        return table;
    }

    public string LayerOf(string folder) => _layers[folder];

    public bool Allows(string from, string to) => from == to || _allowed[from].Contains(_layers[to]);

    /// <summary>The folder with a row of its own that a file lies in, below the folder that the table is of.</summary>
    /// <returns>The file's first folder where none has a row.</returns>
    public string FolderOf(string file) =>
        Folders.SingleOrDefault(folder => file.StartsWith(folder + "/", StringComparison.Ordinal)) ?? file.Split('/')[0];

    private static IEnumerable<string> LayersOf(Match layers)
    {
        int first = int.Parse(layers.Groups["first"].Value);
        int last = layers.Groups["last"].Success ? int.Parse(layers.Groups["last"].Value) : first;
        return Enumerable.Range(first, last - first + 1).Select(number => layers.Groups["wing"].Value + number);
    }

    [GeneratedRegex(@"^\| (?<layer>[A-Z]\d) \| `(?<folder>[\w/]+)/` \| [^|]* \| (?<uses>[^|]*) \|$", RegexOptions.Multiline)]
    private static partial Regex LayerRow();

    [GeneratedRegex(@"(?<wing>[A-Z])(?<first>\d)( to \k<wing>(?<last>\d))?")]
    private static partial Regex Layers();
}
