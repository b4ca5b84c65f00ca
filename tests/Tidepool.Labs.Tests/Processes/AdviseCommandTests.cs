using System.Diagnostics;
using System.Text.Json;

namespace Tidepool.Labs.Tests.Processes;

[Trait("Category", "Environment")]
public sealed class AdviseCommandTests
{
    [Fact]
    public async Task Processes_are_listed_as_a_table_and_as_json()
    {
        using PlantedHabit program = PlantedHabit.Start();

        var (code, table, _) = await ToolProgram.RunAsync("ps");
        Assert.Equal(0, code);
        string row = Assert.Single(table.Split('\n'), line => line.TrimStart().StartsWith($"{program.Id} ", StringComparison.Ordinal));
        Assert.Matches($@"^\s*{program.Id}\s+Tidepool\.Tool\s+10\.\S*\s+yes\s+\d", row);

        (code, string json, _) = await ToolProgram.RunAsync("ps", "--json");
        Assert.Equal(0, code);
        JsonElement listed = Assert.Single(
            JsonDocument.Parse(json).RootElement.EnumerateArray(), one => one.GetProperty("pid").GetInt32() == program.Id);
        Assert.Equal("Tidepool.Tool", listed.GetProperty("name").GetString());
        Assert.Contains(PlantedProgram.Paced, listed.GetProperty("commandLine").GetString(), StringComparison.Ordinal);
        Assert.True(listed.GetProperty("usesTidepool").GetBoolean());
    }

    [Fact]
    public async Task A_watched_process_is_a_line_of_json_a_second()
    {
        using PlantedHabit program = PlantedHabit.Start();

        var (code, lines, errors) = await ToolProgram.RunAsync("watch", $"{program.Id}", "--json", "--seconds", "3");
        Assert.True(code == 0, errors);
        JsonElement[] frames =
            [.. lines.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => JsonDocument.Parse(line).RootElement)];
        Assert.InRange(frames.Length, 1, 3);
        Assert.All(frames, static frame => Assert.True(frame.GetProperty("seconds").GetDouble() > 0));
        Assert.Contains(frames, static frame => frame.TryGetProperty("allocatedPerSecond", out JsonElement rate) && rate.GetDouble() > 0);
    }

    [Theory]
    [InlineData("--seconds is 100000; allowed is 5 to 86400", "advise", "x", "--seconds", "100000")]
    [InlineData("--seconds is 5; with --array-pool allowed is 10 or more", "watch", "x", "--array-pool", "--seconds", "5")]
    [InlineData("the command is empty", "advise", "--", "")]
    public async Task What_cannot_be_done_is_refused_with_what_is_allowed(string message, params string[] words)
    {
        var (code, _, errors) = await ToolProgram.RunAsync(words);
        Assert.Equal(2, code);
        Assert.Contains(message, errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_managed_command_is_started_looked_at_and_ended()
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("tidepool-advise-");
        string json = Path.Combine(folder.FullName, "advice.json");
        string operations = $"{int.MaxValue - Environment.ProcessId}"; // no other program has it
        string html = Path.Combine(folder.FullName, "advice.html");
        try
        {
            var (code, text, errors) = await ToolProgram.RunAsync(
                "advise", "--seconds", "5", "--lifetimes", "--json", json, "--html", html,
                "--", "dotnet", ToolProgram.Path, PlantedProgram.Argument, PlantedHabit.Name, PlantedProgram.Before, operations);

            Assert.True(code == 0, errors);
            using JsonDocument report = JsonDocument.Parse(await File.ReadAllTextAsync(json));
            JsonElement site = report.RootElement.GetProperty("sites")[0];
            Assert.Equal("pool", site.GetProperty("verdict").GetString());
            Assert.EndsWith(".NewBytes", site.GetProperty("method").GetString(), StringComparison.Ordinal);
            Assert.Contains("POOL  byte[]", text, StringComparison.Ordinal);
            Assert.Contains("NewBytes", await File.ReadAllTextAsync(html), StringComparison.Ordinal);
            (code, string processes, _) = await ToolProgram.RunAsync("ps", "--json");
            Assert.Equal(0, code);
            Assert.DoesNotContain(operations, processes, StringComparison.Ordinal);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Theory]
    [InlineData("streams", "MemoryStream", "streams")]
    [InlineData("buffer writers", "ArrayBufferWriter", "writers")]
    [InlineData("string builders", "StringBuilder", "objects")]
    public async Task What_a_class_of_the_platform_allocates_has_its_pool_in_optimized_code_too(string habit, string builder, string kind)
    {
        using PlantedHabit program = PlantedHabit.Start(habit);
        await Task.Delay(TimeSpan.FromSeconds(3)); // until the compiler has made methods of that class part of their callers
        string json = Path.GetTempFileName();
        try
        {
            var (code, _, errors) = await ToolProgram.RunAsync("advise", $"{program.Id}", "--seconds", "5", "--json", json);

            Assert.True(code == 0, errors);
            using JsonDocument report = JsonDocument.Parse(await File.ReadAllTextAsync(json));
            JsonElement[] sites = [.. report.RootElement.GetProperty("sites").EnumerateArray()];
            JsonElement pooled = Assert.Single(sites, static site => site.GetProperty("verdict").GetString() == "pool");
            Assert.Equal((builder, kind), (pooled.GetProperty("builder").GetString(), pooled.GetProperty("kind").GetString()));
            Assert.True(pooled.GetProperty("share").GetDouble() > 0.9);
        }
        finally
        {
            File.Delete(json);
        }
    }

    [Fact]
    public async Task The_native_library_is_refused_for_a_process_that_runs()
    {
        var (code, _, errors) = await ToolProgram.RunAsync("advise", "12345", "--native", "true");
        Assert.Equal(2, code);
        Assert.Contains("--native true starts a command", errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("advise")]
    [InlineData("watch")]
    public async Task A_native_process_is_refused_with_the_way_out(string verb)
    {
        if (!OperatingSystem.IsLinux())
        {
            return; // native programs are looked at on Linux only
        }

        using var process = Process.Start("sleep", ["600"]);
        try
        {
            var (code, _, errors) = await ToolProgram.RunAsync(verb, $"{process.Id}");
            Assert.Equal(2, code);
            Assert.StartsWith($"tidepool: process {process.Id} (sleep) is a native program", errors, StringComparison.Ordinal);
            Assert.Contains("tidepool advise -- COMMAND", errors, StringComparison.Ordinal);
        }
        finally
        {
            process.Kill();
            process.WaitForExit();
        }
    }
}
