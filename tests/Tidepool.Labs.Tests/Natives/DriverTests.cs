namespace Tidepool.Labs.Tests.Natives;

/// <summary>The drivers themselves, in short runs.</summary>
public class DriverTests
{
    private static readonly ProbeSite Site = new(() => { });

    public static TheoryData<string> AnySize =>
        [
            "std::vector", "mutex-pool", "glibc", "tidepool .so", "tidepool zeroed", "tidepool inline", "tidepool pmr",
            "std::pmr synchronized",
        ];

    [DriverTheory]
    [MemberData(nameof(AnySize))]
    public void A_face_answers_every_workload(string name)
    {
        NativeDrivers.NeedBuild();
        using var driver = new DriverProcess(SubjectOf(name));

        string[] commands = ["run pair 64 1 1", "run pair 4096 16 1", "run mixed 0 1 1", "run mixed 0 16 1", "run ring 512 2 1"];
        foreach (string command in commands)
        {
            var timing = driver.Measure(command);
            Assert.Equal(0, timing.Renting);
        }

        foreach (string command in (string[])["run bulk 32 1 1", "run bulk 4096 16 1", "run stress 512 1 1", "run stress 512 16 1"])
        {
            var timing = driver.Measure(command);
            Assert.True(timing.Renting > 0 && timing.Returning > 0, command);
            Assert.Equal(timing.Nanoseconds, timing.Renting + timing.Returning, tolerance: 2);
        }
    }

    [DriverFact]
    public void Bulk_holds_8_MiB_and_stress_rents_a_third_again()
    {
        NativeDrivers.NeedBuild();
        using var driver = new DriverProcess(NativeSubjects.MutexPool);

        Assert.Equal(0, driver.Measure("run bulk 4096 1 1").Operations % 2048);
        Assert.Equal(0, driver.Measure("run bulk 32 1 1").Operations % 16384);
        Assert.Equal(0, driver.Measure("run stress 4096 1 1").Operations % (2048 + 683));
        Assert.Equal(0, driver.Measure("run bulk 4096 16 1").Operations % 2048);
    }

    [DriverTheory]
    [InlineData("run")]
    [InlineData("run nothing 64 1 1")]
    [InlineData("run pair 0 1 1")]
    [InlineData("run mixed 64 1 1")]
    [InlineData("run pair 64 0 1")]
    [InlineData("run pair 64 1000 1")]
    [InlineData("paused 10")]
    [InlineData("nonsense")]
    public void A_wrong_command_is_refused_and_the_driver_goes_on(string command)
    {
        NativeDrivers.NeedBuild();
        using var driver = new DriverProcess(NativeSubjects.CLibrary);

        Assert.Contains(
            "the command is not known",
            Assert.Throws<LabProcessException>(() => driver.Ask(command)).Message,
            StringComparison.Ordinal);
        Assert.True(driver.Measure("run pair 64 1 1").Nanoseconds > 0);
    }

    [DriverFact]
    public void A_library_that_replaces_no_malloc_is_noticed()
    {
        NativeDrivers.NeedBuild();
        // libtidepool.so has tp_ names only.
        using var driver = new DriverProcess(NativeSubjects.Shared with { Library = "libtidepool.so" });

        Assert.Contains("not from libtidepool.so", Assert.Throws<LabProcessException>(driver.Start).Message, StringComparison.Ordinal);
    }

    [DriverFact]
    public void A_pool_of_one_thread_refuses_several()
    {
        NativeDrivers.NeedBuild();
        using var driver = new DriverProcess(NativeSubjects.Unsynchronized);

        Assert.True(driver.Measure("run pair 64 1 1").Nanoseconds > 0);
        Assert.Throws<LabProcessException>(() => driver.Ask("run pair 64 2 1"));
        Assert.Throws<LabProcessException>(() => driver.Ask("run ring 64 2 1"));
    }

    [DriverFact]
    public void Blocks_that_another_thread_returned_are_counted_as_returned()
    {
        NativeDrivers.NeedBuild();
        using var driver = new DriverProcess(NativeSubjects.Pool);
        driver.Measure("run ring 64 2 1");

        Assert.Equal("0", driver.Ask("left"));
    }

    [DriverFact]
    public void A_pause_is_waited_for()
    {
        NativeDrivers.NeedBuild();
        using var driver = new DriverProcess(NativeSubjects.CLibrary);
        driver.Measure("paused 1 64");
        long start = Environment.TickCount64;
        var timing = driver.Measure("paused 1000 64 4096");

        Assert.True(Environment.TickCount64 - start >= 1980, "two pauses are timed");
        Assert.Equal(2 * (16384 + 2048), timing.Operations);
        Assert.True(timing.Nanoseconds < 1900e6, "the pauses are not in the time");
    }

    [DriverFact]
    public void Instructions_are_counted_of_malloc_and_of_free()
    {
        NativeDrivers.NeedBuild();
        var counts = NativeTool.Run(NativeBuild.Program("count")!, [NativeSubjects.Shared.LibraryPath!], Site);
        var again = NativeTool.Run(NativeBuild.Program("count")!, [NativeSubjects.Shared.LibraryPath!], Site);

        Assert.Equal(counts, again);
        Assert.InRange(counts["malloc_instructions_count"], 5, 100);
        Assert.InRange(counts["free_instructions_count"], 5, 100);
        Assert.InRange(counts["malloc_branches_count"], 1, 10);
        Assert.InRange(counts["free_branches_count"], 1, 10);
    }

    [DriverFact]
    public void Waste_of_powers_of_two_is_less_than_of_sizes_above_them()
    {
        NativeDrivers.NeedBuild();
        var powers = NativeSubjects.Shared.RunOnce(Site, "waste", "powers")!;
        var above = NativeSubjects.Shared.RunOnce(Site, "waste", "above-powers")!;

        Assert.Equal(0, powers["rounding_percent"]);
        Assert.InRange(above["rounding_percent"], 1, 50);
        Assert.True(above["resident_percent"] > above["rounding_percent"]);
        Assert.Throws<LabProcessException>(() => NativeSubjects.Shared.RunOnce(Site, "waste", "nonsense"));
    }

    [DriverFact]
    public void Growing_a_block_is_timed_in_realloc_and_with_the_writing()
    {
        NativeDrivers.NeedBuild();
        var times = NativeSubjects.CLibrary.RunOnce(Site, "growth")!;

        Assert.InRange(times["realloc_ns"], 1, times["with_writing_ns"]);
        Assert.InRange(times["with_writing_ns"], 1e6, double.MaxValue); // 256 MiB were written
    }

    [DriverFact]
    public void Memory_after_everything_was_returned_is_measured_and_the_program_says_when_it_waits()
    {
        NativeDrivers.NeedBuild();
        bool quiet = false;
        var memory = NativeSubjects.CLibrary.RunOnce(new ProbeSite(() => quiet = true), "freed", "order")!;

        Assert.True(quiet);
        Assert.InRange(memory["requested_MiB"], 250, 262);
        Assert.InRange(memory["peak_MiB"], memory["requested_MiB"], 2 * memory["requested_MiB"]);
        Assert.True(memory["idle_MiB"] > 0);
    }

    [DriverFact]
    public void Start_up_memory_is_more_than_nothing()
    {
        NativeDrivers.NeedBuild();

        Assert.InRange(NativeTool.Run(NativeBuild.Program("start")!, [], Site)["anonymous_KiB"], 20, 2000);
    }

    [DriverFact]
    public void A_recorded_profile_makes_size_classes_with_less_waste()
    {
        NativeDrivers.NeedBuild();

        Assert.InRange(NativeTuner.Measure("peaks", Site)![NativeTuner.Remaining], 0, 99);
    }

    [DriverFact]
    public void What_a_program_used_is_told_with_its_exit_code()
    {
        NativeDrivers.NeedBuild();
        string runner = NativeBuild.Program("run")!;

        Assert.Equal(0, NativeTool.Run(runner, ["-", "true"], Site)["exit"]);
        Assert.Equal(1, NativeTool.Run(runner, ["-", "false"], Site)["exit"]);
        Assert.Equal(127, NativeTool.Run(runner, ["-", "/no/such/program"], Site)["exit"]);
        var busy = NativeTool.Run(runner, ["-", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"], Site);
        Assert.InRange(busy["user_ns"], 5e6, 60e9);
        Assert.True(busy["peak_KiB"] > 500);
    }

    private static NativeSubject SubjectOf(string name)
    {
        NativeSubject[] subjects =
        [
            .. NativeSubjects.Rivals,
            NativeSubjects.Shared,
            NativeSubjects.Zeroed,
            NativeSubjects.Inline,
            NativeSubjects.Pool,
            NativeSubjects.Resource,
        ];
        return subjects.Single(subject => subject.Name == name);
    }
}
