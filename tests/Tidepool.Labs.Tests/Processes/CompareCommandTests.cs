using Tidepool.Labs.Tests.Comparing;

namespace Tidepool.Labs.Tests.Processes;

[Trait("Category", "Environment")]
public sealed class CompareCommandTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("tidepool compare ").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Slower_rows_fail_only_with_a_limit_that_they_exceed()
    {
        string before = Write("before.json", MadeUpResult.Json(1.0).ToJsonString());
        string after = Write("after.json", MadeUpResult.Json(1.2).ToJsonString());

        var (code, output, errors) = await ToolProgram.RunAsync("compare", before, after);
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains("1 slower in B", output, StringComparison.Ordinal);

        string page = Path.Combine(_folder, "changes.html");
        Assert.Equal(1, (await ToolProgram.RunAsync("compare", before, after, "--fail-above", "1.05", "--html", page)).Code);
        Assert.Contains("1 row above 1.05 with the whole interval", await File.ReadAllTextAsync(page), StringComparison.Ordinal);
        Assert.Equal(0, (await ToolProgram.RunAsync("compare", before, after, "--fail-above", "1.2")).Code);
        Assert.Equal(0, (await ToolProgram.RunAsync("compare", after, before, "--fail-above", "1.05", "--ours")).Code);
    }

    [Fact]
    public async Task A_result_beside_itself_is_said_and_passes()
    {
        string file = Write("same.json", MadeUpResult.Json(0.5, 2).ToJsonString());

        var (code, output, _) = await ToolProgram.RunAsync("compare", file, file, "--fail-above", "1");

        Assert.Equal(0, code);
        Assert.Contains("Both are the same result", output, StringComparison.Ordinal);
        Assert.Contains("0 slower in B, 0 faster", output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{", "is no result of tidepool lab --json")]
    [InlineData("[]", "it is not one JSON object")]
    [InlineData("""{"schema":3}""", "its schema is 3, and this version of Tidepool reads 1 to 2")]
    [InlineData("""{"machine":{}}""", "'labs' is missing")]
    [InlineData("""{"machine":{},"labs":[]}""", "no row in common")]
    public async Task What_is_no_result_is_bad_usage_and_says_why(string content, string expected)
    {
        string good = Write("good.json", MadeUpResult.Json(1.0).ToJsonString());
        string bad = Write("bad.json", content);

        var (code, _, errors) = await ToolProgram.RunAsync("compare", good, bad);

        Assert.Equal(2, code);
        Assert.Contains(expected, Assert.Single(errors.Split('\n', StringSplitOptions.RemoveEmptyEntries)), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("0.99")]
    [InlineData("10.5")]
    [InlineData("1,05")]
    [InlineData("NaN")]
    [InlineData("much")]
    public async Task A_limit_out_of_range_is_bad_usage_and_names_the_range(string limit)
    {
        string file = Write("good.json", MadeUpResult.Json(1.0).ToJsonString());

        var (code, _, errors) = await ToolProgram.RunAsync("compare", file, file, "--fail-above", limit);

        Assert.Equal(2, code);
        Assert.Contains(
            $"The factor of --fail-above is '{limit}'; it must be a number from 1.00 to 10.00", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_file_that_is_missing_is_bad_usage()
    {
        var (code, _, errors) = await ToolProgram.RunAsync("compare", "no-such.json", Write("b.json", "{}"));

        Assert.Equal(2, code);
        Assert.Contains("There is no file 'no-such.json'.", errors, StringComparison.Ordinal);
        Assert.Equal(2, (await ToolProgram.RunAsync("compare")).Code);
    }

    [Fact]
    public async Task Help_needs_no_files_and_has_examples()
    {
        var (code, output, _) = await ToolProgram.RunAsync("compare", "--help");

        Assert.Equal(0, code);
        Assert.Contains("--ours --fail-above 1.05", output, StringComparison.Ordinal);
        Assert.DoesNotContain("Labs:", output, StringComparison.Ordinal);
    }

    private string Write(string name, string content)
    {
        string path = Path.Combine(_folder, name);
        File.WriteAllText(path, content);
        return path;
    }
}
