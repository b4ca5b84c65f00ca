using System.Text.Json;

namespace Tidepool.Advice.Tests.Verifying;

public sealed class VerifyReportTests
{
    private const int Terminal = 80;

    [Fact]
    public void Variables_stand_before_the_program_as_in_a_shell()
    {
        VerifyCommand command = VerifyCommand.Parse(["TIDEPOOL_MODE=off", "A=b=c", "dotnet", "my app.dll", "x=1"], "before");
        Assert.Equal([("TIDEPOOL_MODE", "off"), ("A", "b=c")], command.Variables);
        Assert.Equal(["dotnet", "my app.dll", "x=1"], command.Words);
        Assert.Equal("TIDEPOOL_MODE=off A=b=c dotnet \"my app.dll\" x=1", command.ToString());
    }

    [Theory]
    [InlineData("--before names no program", "A=1")]
    [InlineData("--before is 'dotnet run'", "A=1", "dotnet", "run")]
    public void What_cannot_be_measured_is_refused(string message, params string[] words) => Assert.Contains(
        message, Assert.Throws<TargetException>(() => VerifyCommand.Parse(words, "before")).Message, StringComparison.Ordinal);

    [Fact]
    public void Both_programs_run_in_turns() =>
        Assert.Equal("ABBAABBA", string.Concat(Enumerable.Range(0, 8).Select(static run => Verifier.IsAfter(run) ? 'B' : 'A')));

    [Fact]
    public void The_answers_fit_a_terminal_of_80_columns()
    {
        string text = Print(Report(hasCollectors: true));
        Assert.All(text.Split('\n').Where(static line => !line.StartsWith("before:", StringComparison.Ordinal)), static line =>
            Assert.True(line.Length <= Terminal, $"{line.Length} columns: {line}"));
        Assert.Contains("before: A=1 dotnet old.dll", text, StringComparison.Ordinal);
        Assert.Matches(@"allocated +1\.2 GB +200 MB +-83\.3% \(-83\.3% to -83\.3%\) +less", text);
        Assert.Matches(@"gen2 collections +0 +2 +2 \(2 to 2\) +more", text);
        Assert.Matches(@"wall time +1 s +1 s +0% \(0% to 0%\) +no difference", text);
    }

    [Fact]
    public void What_is_not_known_of_a_program_is_said()
    {
        string text = Print(Report(hasCollectors: false));
        Assert.Matches(@"allocated +- +- +-\n", text);
        Assert.Contains("startup hook", text, StringComparison.Ordinal);
        Assert.Matches(@"wall time +1 s +1 s", text);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void The_json_has_the_fields_of_its_schema(bool hasCollectors)
    {
        using JsonDocument report = JsonDocument.Parse(VerifyJson.Write(Report(hasCollectors)));
        ReportSchema.AssertFits(report.RootElement, "verify.schema.json");
        JsonElement wall = report.RootElement.GetProperty("measures").EnumerateArray().Last();
        Assert.Equal(("wall time", "noDifference"), (wall.GetProperty("name").GetString(), wall.GetProperty("answer").GetString()));
        Assert.Equal(Verifier.FewestRuns, report.RootElement.GetProperty("after").GetProperty("runs").GetArrayLength());
    }

    [Fact]
    public void Counts_are_read_and_what_a_runtime_lacks_is_left_out()
    {
        CollectorCounts counts = CounterFiles.Parse(["allocated 1234", "gen0 5", "gen1 3", "gen2 1", "paused ", "peak 77"]);
        Assert.Equal((1234, 0, 77), (counts.Allocated, counts.PausedSeconds, counts.PeakBytes));
        Assert.Equal([5, 3, 1], counts.Collections);
    }

    [Fact]
    public void There_are_no_counts_before_the_first_program()
    {
        using var files = new CounterFiles();
        Assert.Null(files.Take());
    }

    [Fact]
    public void Counts_that_a_process_still_writes_are_left_out_and_are_none_of_the_next_program()
    {
        using var files = new CounterFiles();
        var environment = new Dictionary<string, string?>();
        files.AddTo(environment);
        string folder = environment["TIDEPOOL_COUNTERS_FOLDER"]!;
        File.WriteAllText(Path.Combine(folder, "a"), "allocated 1\ngen0 1\ngen1 0\ngen2 0\n");
        File.WriteAllText(Path.Combine(folder, "b.part"), "alloc");
        Assert.Equal(1, files.Take()!.Allocated);
        files.AddTo(environment);
        File.WriteAllText(Path.Combine(folder, "b"), "allocated 5\ngen0 1\ngen1 0\ngen2 0\n");
        Assert.Null(files.Take());
    }

    [Fact]
    public async Task The_last_words_of_a_program_begin_with_the_exception_that_ended_it()
    {
        string before = string.Concat(Enumerable.Range(0, 3000).Select(static i => $"line {i}\n"));
        Assert.Equal(["line 2995", "line 2996", "line 2997", "line 2998", "line 2999"], await LastWordsOf(before));
        string stack = string.Concat(Enumerable.Repeat("   at Some.Method()\n", 20));
        Assert.Equal("Unhandled exception. No.", (await LastWordsOf($"{before}Unhandled exception. No.\n{stack}"))[0]);
        Assert.Empty(await LastWordsOf(""));
    }

    private static async Task<IReadOnlyList<string>> LastWordsOf(string said)
    {
        var words = new LastWords();
        await words.ReadAsync(new MemoryStream(System.Text.Encoding.UTF8.GetBytes(said)));
        return words.Lines;
    }

    private static string Print(VerifyReport report)
    {
        using var output = new StringWriter { NewLine = "\n" };
        VerifyText.Print(output, report);
        return output.ToString();
    }

    private static VerifyReport Report(bool hasCollectors) => new()
    {
        Before = VerifyCommand.Parse(["A=1", "dotnet", "old.dll"], "before"),
        After = VerifyCommand.Parse(["dotnet", "new.dll"], "after"),
        BeforeRuns = [.. Enumerable.Repeat(Run(1.2e9, 0, hasCollectors), Verifier.FewestRuns)],
        AfterRuns = [.. Enumerable.Repeat(Run(2e8, 2, true), Verifier.FewestRuns)],
    };

    private static ProgramRun Run(double allocated, int full, bool hasCollectors) => new()
    {
        Seconds = 1,
        ProcessorSeconds = 0.8,
        PeakBytes = 50_000_000,
        Collector = hasCollectors ? new CollectorCounts { Allocated = allocated, Collections = [9, 3, full], PausedSeconds = 0.01 } : null,
    };
}
