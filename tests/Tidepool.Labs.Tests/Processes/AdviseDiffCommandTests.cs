namespace Tidepool.Labs.Tests.Processes;

[Trait("Category", "Environment")]
public sealed class AdviseDiffCommandTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("tidepool advise ").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task A_limit_that_is_exceeded_fails_and_one_inside_the_interval_does_not()
    {
        string before = Write("before.json", Report(100));
        string after = Write("after.json", Report(150));

        Assert.Equal(0, (await ToolProgram.RunAsync("advise", "diff", before, after)).Code);
        Assert.Equal(0, (await ToolProgram.RunAsync("advise", "diff", before, after, "--fail-on", "bytes:+40%")).Code);
        string json = Path.Combine(_folder, "diff.json");
        var (code, output, errors) = await ToolProgram.RunAsync(
            "advise", "diff", before, after, "--fail-on", "fault:+0", "--fail-on", "bytes:+5%", "--json", json);
        Assert.Equal((1, ""), (code, errors));
        Assert.Contains("EXCEEDED", output, StringComparison.Ordinal);
        Assert.Contains("\"exceeded\"", await File.ReadAllTextAsync(json), StringComparison.Ordinal);
        Assert.Equal(0, (await ToolProgram.RunAsync("advise", "diff", after, before, "--fail-on", "bytes:+5%")).Code);
    }

    [Fact]
    public async Task Bad_input_is_told_from_an_exceeded_limit()
    {
        string good = Write("good.json", Report(100));
        await AssertRefusedAsync("is no report of tidepool advise --json", good, Write("bad.json", "{"));
        await AssertRefusedAsync("There is no file 'no-such.json'.", good, "no-such.json");
        await AssertRefusedAsync("--fail-on is 'bytes:5'; allowed are", good, good, "--fail-on", "bytes:5");
        await AssertRefusedAsync("'advise diff' has the options: --fail-on, --json. See: tidepool advise diff --help", good);
        var (code, _, errors) = await ToolProgram.RunAsync("advise", "orders", "diff", good, good);
        Assert.Equal(2, code);
        Assert.Contains("diff compares two files, and no process: orders", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_help_shows_the_usage_without_a_process()
    {
        var (code, output, _) = await ToolProgram.RunAsync("advise", "diff", "--help");
        Assert.Equal(0, code);
        Assert.Contains("tidepool advise diff <BASE.json> <NEW.json>", output, StringComparison.Ordinal);
        Assert.Contains("Exit codes: 0 fine, 1 a limit is exceeded, 2 wrong usage", output, StringComparison.Ordinal);
    }

    private static async Task AssertRefusedAsync(string message, params string[] arguments)
    {
        var (code, _, errors) = await ToolProgram.RunAsync(["advise", "diff", .. arguments]);
        Assert.Equal(2, code);
        Assert.Contains(message, errors, StringComparison.Ordinal);
    }

    private static string Report(int megabytes) =>
        $$"""
        {"schema":1,"process":{"name":"orders","runtime":"10.0.12"},"window":{"seconds":30,"sampledSeconds":5,"lostEvents":0},
        "bytesPerSecond":{"low":{{megabytes * 0.9}}e6,"value":{{megabytes}}e6,"high":{{megabytes * 1.1}}e6},
        "collections":[],"sites":[],"pools":[]}
        """;

    private string Write(string name, string text)
    {
        string path = Path.Combine(_folder, name);
        File.WriteAllText(path, text);
        return path;
    }
}
