using Tidepool.Advice;
using Tidepool.Labs.Tests.Kestrel;
using Tidepool.Labs.Tests.Natives;
using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Labs.Tests.Advising;

/// <summary>The native program of lab <c>advise</c>, and its windows.</summary>
public sealed class NativeWindowTests : IDisposable
{
    private const string Library = "libtidepool-preload.so";
    private const string WithoutLog = "without a log";
    private const string WithLog = "with the log of advise";

    private readonly string _folder = Directory.CreateTempSubdirectory("tidepool-windows-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [NativeCoresTheory]
    [InlineData("CLibrary", false, false)]
    [InlineData("Preloaded", true, false)]
    [InlineData("Logged", true, true)]
    public void The_library_is_preloaded_and_logs_only_where_that_is_measured(string malloc, bool isPreloaded, bool isLogged)
    {
        NativeDrivers.NeedBuild();
        using var program = NativeAllocatingProgram.Start(Enum.Parse<NativeMalloc>(malloc));
        program.Ask();

        Assert.Equal(isPreloaded, File.ReadLines($"/proc/{program.Id}/maps").Any(line => line.Contains(Library, StringComparison.Ordinal)));
        Assert.Equal(isLogged, program.Folder.EnumerateFiles().Any());
    }

    [NativeCoresFact]
    public void The_log_is_that_of_small_blocks_that_die_young_under_twenty_frames()
    {
        NativeDrivers.NeedBuild();
        using var program = NativeAllocatingProgram.Start(NativeMalloc.Logged);
        AllocatingState state = program.Ask(nameof(AllocatingPace.Saturated));
        for (int look = 0; look < 100 && state.Allocated < 1_000_000_000; look++)
        {
            Thread.Sleep(50);
            state = program.Ask();
        }

        SampleLog log = NativeSampler.LogsIn(program.Folder).MaxBy(static log => log.Blocks.Count)!;
        Assert.Equal(1 / AllocationEstimate.ByteProbability, log.MeanBytes, tolerance: 0.5);
        Assert.Equal(0, log.Lost);
        LoggedBlock[] blocks = [.. log.Blocks.Where(static block => block.Size is >= 512 and <= 1535)];
        Assert.InRange(blocks.Length, 0.99 * log.Blocks.Count, log.Blocks.Count);
        double sampled = blocks.Sum(static block => block.Size / AllocationEstimate.ProbabilityOf(block.Size));
        Assert.InRange(sampled / state.Allocated, 0.9, 1.2); // it went on until the log was read
        Assert.InRange(blocks.Count(static block => block.FreeTime - block.Time < 1e9), 0.95 * blocks.Length, blocks.Length);
        Assert.All(blocks.Select(block => log.Stacks[block.Stack].Length).Distinct(), static frames => Assert.InRange(frames, 20, 31));
    }

    [CoresFact]
    public void The_managed_program_rests_meanwhile_and_goes_on_at_its_pace()
    {
        using PinnedProcess program = PinnedProcess.Start(
            "The program", LoadServers.Program, CorePair.OfThisMachine()!.Value.Server, AllocatingProgram.Argument);
        program.Ask<AllocatingState>(nameof(AllocatingPace.Resting));
        Thread.Sleep(200);
        long before = program.Ask<AllocatingState>(AllocatingProgram.Question).Allocated;
        Thread.Sleep(200);
        long resting = program.Ask<AllocatingState>(nameof(AllocatingPace.Saturated)).Allocated;
        Thread.Sleep(500);

        Assert.InRange(resting - before, 0, 10_000_000);
        Assert.InRange(program.Ask<AllocatingState>(AllocatingProgram.Question).Allocated - resting, 50_000_000, long.MaxValue);
    }

    [NativeCoresFact]
    public async Task A_run_measures_windows_of_native_programs()
    {
        NativeDrivers.NeedBuild();
        LabOutcome outcome = await RunAsync(LoadServers.Program, WithLog);

        Assert.Empty(outcome.Results.Dropped);
        SampleSet[] measured = [.. outcome.Plan.Workloads.Select(workload => outcome.Results.Samples(workload.Key)).OfType<SampleSet>()];
        Assert.Equal(2, measured.Length);
        Assert.All(measured, static samples => Assert.InRange(samples.MinimumNanoseconds, 10_000, 1e9));
    }

    [NativeCoresFact]
    public async Task A_library_that_the_loader_refuses_is_not_measured()
    {
        NativeDrivers.NeedBuild();
        Directory.CreateDirectory(Path.Combine(_folder, "bench"));
        string program = NativeBuild.Program("allocating")!;
        File.CreateSymbolicLink(Path.Combine(_folder, "bench", Path.GetFileName(program)), program);
        await File.WriteAllTextAsync(Path.Combine(_folder, Library), "no library");

        LabOutcome outcome = await RunAsync(WithBuild(_folder), WithoutLog);

        var (key, reason) = Assert.Single(outcome.Results.Dropped);
        Assert.Equal(NativeCost.Preloaded, key.Subject);
        Assert.Contains("cannot be preloaded", reason, StringComparison.Ordinal);
    }

    [CoresFact]
    public async Task Where_nothing_is_built_the_rows_say_how_to_build_it()
    {
        LabOutcome outcome = await RunAsync(WithBuild(_folder), WithLog);

        Assert.Equal(2, outcome.Results.Dropped.Count);
        Assert.All(
            outcome.Results.Dropped.Values,
            static reason => Assert.Contains("apt-get install cmake g++", reason, StringComparison.Ordinal));
    }

    /// <summary>The program of the lab, for which a folder is that of the native build.</summary>
    private static ChildCommand WithBuild(string folder) =>
        new("env", [$"{NativeBuild.Variable}={folder}", LoadServers.Program.FileName, .. LoadServers.Program.LeadingArguments]);

    /// <summary>Measures a pair once, as fast as it can: a machine that is busy with other tests may not keep a pace.</summary>
    private static async Task<LabOutcome> RunAsync(ChildCommand child, string library)
    {
        var options = new LabRunOptions
        {
            Child = child,
            Processes = 1,
            Rounds = 1,
            Select = key => key.Cell["pace"] == "saturated" && key.Cell["library"] == library,
        };
        return (await new LabRunner(options, static _ => { }).RunAsync([LabCatalog.Find("advise")!], CancellationToken.None)).Labs.Single();
    }
}

/// <summary>A fact about that program: skipped, with what is missing, where it cannot be built or pinned.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class NativeCoresFactAttribute : FactAttribute, ITraitAttribute
{
    public NativeCoresFactAttribute() => Skip = CorePair.Missing ?? NativeDrivers.Missing;
}

/// <summary>A theory about it.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class NativeCoresTheoryAttribute : TheoryAttribute, ITraitAttribute
{
    public NativeCoresTheoryAttribute() => Skip = CorePair.Missing ?? NativeDrivers.Missing;
}
