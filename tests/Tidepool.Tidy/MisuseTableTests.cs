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

    [Fact]
    public void Each_file_without_tests_beside_them_has_the_steps_of_a_mistake_of_the_table()
    {
        string[] mistakes = [.. Tables().First()[2..].Select(row => $"{Folder}{Pascal(row[0])}.cs")];
        string[] steps =
            [
                .. Repository.Under(Folder, ".cs")
                    .Where(file => !file[Folder.Length..].Contains('/', StringComparison.Ordinal) && !HasTests(file)),
            ];
        Assert.NotEmpty(steps);
        Assert.Empty(steps.Except(mistakes));
    }

    /// <summary>
    /// Row "double return", column "off" is DoubleReturn.Off.cs; a row of a table with one column is one file, such as
    /// StreamDisposedTwice.cs.
    /// </summary>
    private static IEnumerable<string> Cells()
    {
        string[][][] tables = [.. Tables()];
        Assert.True(tables.Length > 1);
        Assert.Equal(["off", "default", "full"], tables[0][0][1..]);
        Assert.All(tables[1..], table => Assert.Single(table[0][1..]));
        foreach (string[][] table in tables)
        {
            string[] modes = table[0][1..];
            foreach (string[] row in table[2..])
            {
                Assert.Equal(modes.Length + 1, row.Length);
                Assert.All(row, cell => Assert.NotEmpty(cell));
                foreach (string mode in modes)
                {
                    yield return modes.Length == 1 ? $"{Pascal(row[0])}.cs" : $"{Pascal(row[0])}.{Pascal(mode)}.cs";
                }
            }
        }
    }

    private static IEnumerable<string[][]> Tables()
    {
        var rows = new List<string[]>();
        foreach (string line in Repository.Read("docs/misuse.md").Split('\n').Append(""))
        {
            if (line.StartsWith('|'))
            {
                rows.Add(line.Trim('|').Split('|', StringSplitOptions.TrimEntries));
            }
            else if (rows.Count > 0)
            {
                yield return [.. rows];
                rows.Clear();
            }
        }
    }

    private static string Pascal(string words) =>
        string.Concat(words.Split(' ').Select(word => char.ToUpperInvariant(word[0]) + word[1..]));

    private static bool HasTests(string file) =>
        Repository.Read(file).Contains("[Fact", StringComparison.Ordinal)
            || Repository.Read(file).Contains("[Theory", StringComparison.Ordinal);
}
