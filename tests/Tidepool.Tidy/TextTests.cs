using System.Text.RegularExpressions;

namespace Tidepool.Tidy;

/// <summary>Words that no file of the repository contains. They are put together from parts, because this file is read as well.</summary>
public sealed class TextTests
{
    private static readonly string[] Binary = [".png", ".ico", ".gz", ".zip", ".pdf"];

    [Fact]
    public void No_file_leaves_a_reminder_for_later()
    {
        string words = string.Join('|', "TO" + "DO", "FIX" + "ME", "HA" + "CK", "XX" + "X");
        AssertAbsent(@$"\b({words})\b", "Do it now, or write an issue:");
    }

    [Fact]
    public void No_file_names_a_package_registry()
    {
        string[] hosts =
            [
                "api.nu" + "get.org", "registry.np" + "mjs.org", "registry.ya" + "rnpkg.com", "deb.deb" + "ian.org", "artif" + "actory",
                "pypi" + ".org",
            ];
        AssertAbsent(string.Join('|', hosts.Select(Regex.Escape)), "Packages come from the feeds that the user has set up:");
    }

    [Fact]
    public void No_file_names_a_folder_of_somebodys_machine()
    {
        string[] folders = ["/ro" + "ot/", "/ho" + @"me/\w+/", "/Us" + @"ers/\w+/", @"\b[A-Z]:\\Us" + @"ers\\", "(?<![.\\w])/wo" + "rk/"];
        AssertAbsent(string.Join('|', folders), "Use a path relative to the repository, or the temporary folder of the system:");
    }

    [Fact]
    public void Text_files_end_with_one_line_feed_and_have_no_carriage_return()
    {
        Problems.AssertNone(
            from file in TextFiles()
            let text = Repository.Read(file)
            where text.Length > 0 && (text.Contains('\r') || !text.EndsWith('\n') || text.EndsWith("\n\n", StringComparison.Ordinal))
            select file,
            "Files with wrong line ends:");
    }

    private static IEnumerable<string> TextFiles() => Repository.Files.Where(file => !Binary.Contains(Path.GetExtension(file)));

    private static void AssertAbsent(string pattern, string rule)
    {
        var regex = new Regex(pattern, RegexOptions.CultureInvariant);
        Problems.AssertNone(
            from file in TextFiles()
            from line in File.ReadLines(Repository.Path(file)).Select((text, index) => (text, number: index + 1))
            where regex.IsMatch(line.text)
            select $"{file}:{line.number}: {line.text.Trim()}",
            rule);
    }
}
