using System.Diagnostics;
using Tidepool.Advice.Tests.Programs;
using Xunit.Abstractions;

namespace Tidepool.Advice.Tests.Verifying;

/// <summary>Runs real programs.</summary>
[Trait("Category", "Environment")]
public sealed class VerifierTests(ITestOutputHelper output)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(120);

    [Fact]
    public async Task Two_programs_are_compared_by_what_their_collectors_count()
    {
        const double Most = 60_000_000;
        const double Least = 20_000_000;
        VerifyReport report = await Verifier.RunAsync(
            Command(ComparedProgram.Arrays, $"{Most}"),
            Command(ComparedProgram.Arrays, $"{Least}"),
            Verifier.FewestRuns,
            Patience,
            static _ => { },
            CancellationToken.None);
        using var text = new StringWriter();
        VerifyText.Print(text, report);
        output.WriteLine(text.ToString());
        Difference allocated = report.Measures.Single(static m => m.Name == "allocated").Difference!;
        Assert.Equal(VerifyAnswer.Less, allocated.Answer);
        Assert.InRange(allocated.Before, Most, Most + 5e6);
        Assert.InRange(allocated.After, Least, Least + 5e6);
        Assert.True(report.HasCollectors);
        Assert.All(report.BeforeRuns.Concat(report.AfterRuns), static run =>
        {
            Assert.True(run.PeakBytes > 10_000_000);
            Assert.True(run.Seconds > 0);
            Assert.True(run.ProcessorSeconds > 0 || OperatingSystem.IsWindows());
        });
    }

    [Fact]
    public async Task A_program_runs_against_itself_without_pooling()
    {
        (long missed, long idle, long resources) = Parse(await RunAsync(Command(ComparedProgram.Pools)));
        Assert.InRange(missed, 1, 20);
        Assert.True(idle > 0);
        Assert.Equal(1, resources);
        (missed, idle, resources) = Parse(await RunAsync(Command(ComparedProgram.Pools).With("TIDEPOOL_MODE=off")));
        Assert.Equal(2 * ComparedProgram.Rounds, missed);
        Assert.Equal(0, idle);
        Assert.Equal(1, resources); // a limit of connections holds, pooling or not
    }

    [Fact]
    public async Task Allocations_show_what_pooling_saves()
    {
        using var runner = new ProgramRunner(Patience);
        ProgramRun without = await runner.RunAsync(Command(ComparedProgram.Pools).With("TIDEPOOL_MODE=off"), "off", CancellationToken.None);
        ProgramRun with = await runner.RunAsync(Command(ComparedProgram.Pools), "on", CancellationToken.None);
        double saved = without.Collector!.Allocated - with.Collector!.Allocated;
        output.WriteLine($"{without.Collector.Allocated} bytes without pooling, {with.Collector.Allocated} with");
        Assert.InRange(saved, ComparedProgram.Rounds * 14_000.0, ComparedProgram.Rounds * 20_000.0);
    }

    [Theory]
    [InlineData(ComparedProgram.Fails, "ended with code 7", ComparedProgram.Reason)]
    [InlineData(ComparedProgram.Crashes, "it crashed", "planned")]
    [InlineData(ComparedProgram.Hangs, "still running after 2 s", "--timeout")]
    public async Task A_run_that_fails_ends_the_comparison_with_a_reason(string program, params string[] parts)
    {
        TimeSpan timeout = program == ComparedProgram.Hangs ? TimeSpan.FromSeconds(2) : Patience;
        TargetException failure = await Assert.ThrowsAsync<TargetException>(() => Verifier.RunAsync(
            Command(program), Command(program), Verifier.FewestRuns, timeout, static _ => { }, CancellationToken.None));
        Assert.All(parts, part => Assert.Contains(part, failure.Message, StringComparison.Ordinal));
        Assert.StartsWith("the run of --before that warms up", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_program_that_is_not_there_is_said()
    {
        using var runner = new ProgramRunner(Patience);
        TargetException failure = await Assert.ThrowsAsync<TargetException>(
            () => runner.RunAsync(VerifyCommand.Parse(["no-such-program"], "after"), "run 1", CancellationToken.None));
        Assert.Contains("'no-such-program' does not start", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_stopped_comparison_ends_its_program()
    {
        using var runner = new ProgramRunner(Patience);
        using var stop = new CancellationTokenSource(TimeSpan.FromMilliseconds(500));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => runner.RunAsync(Command(ComparedProgram.Hangs), "run 1", stop.Token));
    }

    [Fact]
    public async Task A_program_that_is_not_of_dotnet_has_times_and_memory()
    {
        if (!File.Exists("/bin/sleep"))
        {
            return; // no such program on this system
        }

        using var runner = new ProgramRunner(Patience);
        ProgramRun run = await runner.RunAsync(VerifyCommand.Parse(["/bin/sleep", "0.3"], "before"), "run 1", CancellationToken.None);
        Assert.Null(run.Collector);
        Assert.InRange(run.Seconds, 0.3, Patience.TotalSeconds);
        Assert.InRange(run.ProcessorSeconds!.Value, 0, Patience.TotalSeconds);
        Assert.True(run.PeakBytes > 0);
    }

    private static VerifyCommand Command(params string[] arguments) =>
        VerifyCommand.Parse([ChildProcess.Host, typeof(VerifierTests).Assembly.Location, .. arguments], "before");

    private static async Task<string> RunAsync(VerifyCommand command)
    {
        var info = new ProcessStartInfo(command.Words[0], command.Words.Skip(1)) { RedirectStandardOutput = true };
        foreach ((string name, string value) in command.Variables)
        {
            info.Environment[name] = value;
        }

        using Process process = Process.Start(info)!;
        string said = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        Assert.Equal(0, process.ExitCode);
        return said;
    }

    private static (long Missed, long Idle, long Resources) Parse(string said) =>
        said.Split(' ') is [var missed, var idle, var resources]
            ? (long.Parse(missed), long.Parse(idle), long.Parse(resources))
            : throw new InvalidOperationException(said);
}

/// <summary>What these tests add to a command.</summary>
internal static class VerifyCommands
{
    public static VerifyCommand With(this VerifyCommand command, string variable) =>
        VerifyCommand.Parse([variable, .. command.Words], "before");
}
