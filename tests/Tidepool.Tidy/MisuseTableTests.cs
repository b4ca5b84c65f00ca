namespace Tidepool.Tidy;

/// <summary>The table of docs/misuse.md is a promise: each of its cells has one test file, and each test file has its cell.</summary>
public sealed class MisuseTableTests
{
    private const string Folder = "tests/Tidepool.Misuse/";

    [Fact]
    public void Each_cell_of_the_misuse_table_has_its_test_file()
    {
        Problems.AssertSame(
            Cells(),
            Repository.Under(Folder, ".cs").Where(HasTests).Select(file => file[Folder.Length..]),
            $"Cells of docs/misuse.md and test files in {Folder} (- has no file, + has no cell):");
    }

    /// <summary>Row "double return", column "off" is DoubleReturn.Off.cs.</summary>
    private static IEnumerable<string> Cells()
    {
        string[][] table = [.. Repository.Read("docs/misuse.md").Split('\n').Where(line => line.StartsWith('|'))
            .Select(line => line.Trim('|').Split('|', StringSplitOptions.TrimEntries))];
        string[] modes = table[0][1..];
        Assert.Equal(["off", "default", "full"], modes);
        foreach (string[] row in table[2..])
        {
            Assert.Equal(modes.Length + 1, row.Length);
            Assert.All(row, cell => Assert.NotEmpty(cell));
            foreach (string mode in modes)
            {
                yield return $"{Pascal(row[0])}.{Pascal(mode)}.cs";
            }
        }
    }

    private static string Pascal(string words) => string.Concat(words.Split(' ').Select(word => char.ToUpperInvariant(word[0]) + word[1..]));

    private static bool HasTests(string file) => Repository.Read(file).Contains("[Fact", StringComparison.Ordinal) || Repository.Read(file).Contains("[Theory", StringComparison.Ordinal);
}
