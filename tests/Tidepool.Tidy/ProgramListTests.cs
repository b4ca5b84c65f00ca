using System.Text.RegularExpressions;

namespace Tidepool.Tidy;

/// <summary>Programs that may be missing are in one list, <c>eng/programs</c>.</summary>
public sealed partial class ProgramListTests
{
    private static readonly string[][] Listed =
    [
        .. from line in Repository.Read("eng/programs").Split('\n', StringSplitOptions.RemoveEmptyEntries)
           where !line.StartsWith('#')
           select line.Split(" | "),
    ];

    [Fact]
    public void Each_line_says_who_needs_what_and_a_program_is_listed_once()
    {
        Assert.All(Listed, static parts => Assert.Equal(4, parts.Length));
        Assert.All(Listed, static parts => Assert.Contains(parts[0], (string[])["required", "native", "labs", "tests"]));
        Assert.Empty(Listed.GroupBy(static parts => parts[1]).Where(static same => same.Count() > 1).Select(static same => same.Key));
    }

    [Fact]
    public void CI_reads_the_list_and_has_none_of_its_own()
    {
        string script = Repository.Read(".ci/run");
        Assert.Contains("done <eng/programs", script, StringComparison.Ordinal);
        Assert.DoesNotContain(Listed, parts => Regex.IsMatch(script, $@"(?<![\w.-]){Regex.Escape(parts[2])}(?![\w.-])"));
    }

    [Fact]
    public void A_package_that_a_message_or_a_page_tells_to_install_is_in_the_list()
    {
        HashSet<string> known = [.. Listed.Select(static parts => parts[2])];
        Problems.AssertNone(
            from file in Repository.Under("", ".cs").Concat(Repository.Under("", ".md")).Append("tidepool").Append("native/tests/run")
            where file != "tests/Tidepool.Tidy/ProgramListTests.cs"
            from Match command in Install().Matches(Repository.Read(file))
            from package in command.Groups["packages"].Value.Split(' ', StringSplitOptions.RemoveEmptyEntries)
            where !known.Contains(package) && package != "libtidepool-no-such-rival7"
            select $"{file}: {package}",
            "Packages that eng/programs lacks:");
    }

    [GeneratedRegex(@"apt-get install (?<packages>\b[a-z0-9+.-]+(?: [a-z0-9+.-]+)*)(?=[`""'\n)<,;]|$)", RegexOptions.Multiline)]
    private static partial Regex Install();
}
