using System.Text.RegularExpressions;

namespace Tidepool.Tidy;

/// <summary>A table of layers on a page: which folder is in which layer, and which layers each may use.</summary>
/// <remarks>Rows such as "| L3 | `heap/` | what lives there | L0 to L2 |" or "... | L0, L2 |".</remarks>
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
            string uses = row.Groups["uses"].Value;
            int[] named = [.. LayerName().Matches(uses).Select(match => int.Parse(match.Value[1..]))];
            bool isRange = uses.Contains(" to ", StringComparison.Ordinal);
            IEnumerable<int> layers = isRange ? Enumerable.Range(named[0], named[^1] - named[0] + 1) : named;
            table._layers.Add(row.Groups["folder"].Value, row.Groups["layer"].Value);
            table._allowed[row.Groups["folder"].Value] = [.. layers.Select(number => $"L{number}")];
        }
        Assert.NotEmpty(table._layers);
        return table;
    }

    public string LayerOf(string folder) => _layers[folder];

    public bool Allows(string from, string to) => from == to || _allowed[from].Contains(_layers[to]);

    [GeneratedRegex(@"^\| (?<layer>L\d) \| `(?<folder>\w+)/` \| [^|]* \| (?<uses>[^|]*) \|$", RegexOptions.Multiline)]
    private static partial Regex LayerRow();

    [GeneratedRegex(@"L\d")]
    private static partial Regex LayerName();
}
