using System.Text.RegularExpressions;

namespace Tidepool.Labs.Tests.Processes;

[Trait("Category", "Environment")]
public class CommandLineTests
{
    [Fact]
    public async Task An_unknown_lab_is_bad_usage_and_the_labs_are_listed()
    {
        var (code, _, errors) = await RunAsync("lab", "nonsense");

        Assert.Equal(2, code);
        Assert.Contains(
            $"There is no lab 'nonsense'. There are: {string.Join(", ", LabCatalog.All.Select(lab => lab.Name))}.",
            errors,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task Extra_rivals_that_were_not_built_in_are_one_line_and_code_3()
    {
        if (StreamSubject.HasExtraRivals)
        {
            return; // built with them
        }

        var (code, _, errors) = await RunAsync("lab", "streams", "--extra-rivals");

        Assert.Equal(3, code);
        Assert.Contains(
            "ExtraRivals=true",
            Assert.Single(errors.Split('\n', StringSplitOptions.RemoveEmptyEntries)),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_file_that_is_missing_or_no_PDF_is_bad_usage_and_says_why()
    {
        string file = Path.GetRandomFileName();
        var (code, _, errors) = await RunAsync("lab", "pdf", "--file", file);
        Assert.Equal(2, code);
        Assert.Contains($"--file '{file}' does not exist", errors, StringComparison.Ordinal);

        (code, _, errors) = await RunAsync("lab", "pdf", "--file", typeof(CommandLineTests).Assembly.Location);
        Assert.Equal(2, code);
        Assert.Contains("no PDF", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Numbers_of_threads_out_of_range_are_bad_usage_and_the_range_is_said()
    {
        var (code, _, errors) = await RunAsync("lab", "objects", "--threads", "2,0");

        Assert.Equal(2, code);
        Assert.Contains("--threads is '2,0'; allowed are numbers from 1 to 256 between commas.", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_unknown_option_is_bad_usage_and_the_options_are_listed()
    {
        var (code, _, errors) = await RunAsync("lab", "--nonsense");

        Assert.Equal(2, code);
        Assert.Contains("There is no option '--nonsense'.", errors, StringComparison.Ordinal);
        Assert.Contains("--html", errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("lab", "labb")]
    [InlineData("lab", "alb")]
    [InlineData("arrays", "lab", "arays")]
    [InlineData("--full", "lab", "arrays", "--ful")]
    [InlineData("compare", "comprae", "a.json", "b.json")]
    public async Task A_mistyped_word_is_bad_usage_and_the_right_one_is_named(string meant, params string[] arguments)
    {
        var (code, _, errors) = await RunAsync(arguments);

        Assert.Equal(2, code);
        Assert.Contains($"Did you mean '{meant}'?", errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("nonsense")]
    [InlineData("lab", "nonsense")]
    [InlineData("lab", "--nonsense")]
    [InlineData("lab", "arrays", "--seed", "labb")]
    public async Task A_word_that_is_like_none_is_no_reason_to_suggest_one(params string[] arguments)
    {
        var (code, _, errors) = await RunAsync(arguments);

        Assert.Equal(2, code);
        Assert.DoesNotContain("Did you mean", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_version_is_one_line_with_the_commit_where_it_is_known()
    {
        var (code, output, _) = await RunAsync("--version");

        Assert.Equal(0, code);
        Assert.Equal(BuildVersion.Text, output.TrimEnd('\n'));
        Assert.Matches(@"^\d+\.\d+\.\d+\S*( \(commit [0-9a-f]{7,12}\))?\n$", output);
    }

    [Theory]
    [InlineData("lab", "--quick", "--full")]
    [InlineData("lab", "--html", "/no/such/folder/page.html")]
    [InlineData("lab", "--seed", "many")]
    [InlineData("nonsense")]
    public async Task Contradictions_and_nonsense_are_bad_usage(params string[] arguments) =>
        Assert.Equal(2, (await RunAsync(arguments)).Code);

    [Theory]
    [InlineData("--help")]
    [InlineData("lab", "--help")]
    public async Task Help_has_examples(params string[] arguments)
    {
        var (code, output, _) = await RunAsync(arguments);

        Assert.Equal(0, code);
        Assert.Contains("Examples:", output, StringComparison.Ordinal);
        Assert.Contains("tidepool lab arrays", output, StringComparison.Ordinal);
        Assert.DoesNotContain(ChildProgram.Argument, output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Help_names_each_lab_and_what_it_asks()
    {
        var (_, output, _) = await RunAsync("lab", "--help");

        Assert.All(LabCatalog.All, lab => Assert.Matches($@"\n  {lab.Name} {{2,}}{Regex.Escape(lab.Question)}\r?\n", output));
    }

    private static Task<(int Code, string Output, string Errors)> RunAsync(params string[] arguments) => ToolProgram.RunAsync(arguments);
}
