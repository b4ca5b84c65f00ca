namespace Tidepool.Labs;

/// <summary>Whole programs under each malloc: they must run, and no malloc may make them faster than ours does.</summary>
internal static class NativePrograms
{
    private const string Failed = "failed";

    /// <summary>Adds workloads, probes and verdicts; in the quick tour only verdicts that say why they are not judged.</summary>
    public static void Describe(LabPlan plan)
    {
        if (plan.Mode != LabMode.Full)
        {
            foreach (var program in PreloadPrograms.All)
            {
                plan.Add(new OmittedRule(program.Bar, "runs too long for the quick tour: --full"));
            }

            plan.Add(new OmittedRule(Bars.ProgramsCorrect, "runs too long for the quick tour: --full"));
            return;
        }

        DescribeMissing(plan);
        AddRuns(plan);
        AddChecks(plan);
    }

    private static Cell CellOf(PreloadProgram program) => Cell.Of(("program", program.Name));

    private static NativeSubject[] Subjects => [.. NativeSubjects.Peers, NativeSubjects.Shared];

    private static void DescribeMissing(LabPlan plan)
    {
        string[] missing = [.. PreloadPrograms.All.Where(program => !program.IsThere()).Select(program => program.Package)];
        if (missing.Length > 0)
        {
            plan.Hints.Add($"Programs that are not measured because they are not installed: apt-get install {string.Join(' ', missing)}");
        }
    }

    private static void AddRuns(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Programs under LD_PRELOAD",
            About =
                "User time of the program and its children, of one run. The row glibc is the program "
                    + "as it was built: redis-server brings jemalloc with it.",
            Baseline = NativeSubjects.CLibrary.Name,
            Layout = SectionLayout.Matrix,
            Varies = ["program"],
            Operation = "run",
        };
        foreach (var program in PreloadPrograms.All)
        {
            foreach (var subject in Subjects)
            {
                plan.Add(new Workload
                {
                    Key = new(CellOf(program), subject.Name),
                    Section = section,
                    Ours = subject.Ours,
                    Create = () => MissingFor(program, subject) is null ? new ProgramLoop(program, subject) : null,
                    Missing = MissingFor(program, subject) ?? "not available here",
                    EveryRounds = 4, // 1 of 4 rounds in each of 9 processes: 9 runs, twice as many where that leaves the verdict open
                    FixedOperations = 1,
                });
            }

            plan.Add(new MeanRatioRule(
                program.Bar,
                [new(program.Name, [CellOf(program)])],
                NativeSubjects.Shared.Name,
                [.. NativeSubjects.Peers.Select(peer => peer.Name)]));
        }
    }

    private static void AddChecks(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Programs run correctly",
            About = "One run under our library: 1 when the program ended with an error, as python's tests do when one of them fails.",
            Layout = SectionLayout.Metrics,
            Varies = ["check"],
        };
        var keys = new List<WorkloadKey>();
        foreach (var program in PreloadPrograms.All)
        {
            var key = new WorkloadKey(Cell.Of(("check", program.Name)), NativeSubjects.Shared.Name);
            keys.Add(key);
            plan.Add(new Probe
            {
                Key = key,
                Section = section,
                Ours = true,
                StartsPrograms = true,
                Missing = MissingFor(program, NativeSubjects.Shared) ?? "not available here",
                Run = _ => MissingFor(program, NativeSubjects.Shared) is null ? Check(program) : null,
            });
        }

        plan.Add(new MetricRule(Bars.ProgramsCorrect, Failed, [.. keys]));
    }

    private static string? MissingFor(PreloadProgram program, NativeSubject subject) =>
        subject.Missing ?? (program.IsThere() ? null : $"not installed: apt-get install {program.Package}");

    private static Dictionary<string, double> Check(PreloadProgram program)
    {
        try
        {
            var used = ProgramLoop.RunOnce(program, NativeSubjects.Shared);
            return new() { [Failed] = 0, ["peak_MiB"] = used["peak_KiB"] / 1024 };
        }
        catch (LabProcessException failure)
        {
            Console.Error.WriteLine($"{program.Name}: {failure.Message}");
            return new() { [Failed] = 1 };
        }
    }

    /// <summary>One run is one operation; its time is the user time.</summary>
    private sealed class ProgramLoop(PreloadProgram program, NativeSubject subject) : Loop
    {
        /// <summary>Runs it in a folder that is removed afterwards.</summary>
        public static IReadOnlyDictionary<string, double> RunOnce(PreloadProgram program, NativeSubject subject)
        {
            string folder = Directory.CreateTempSubdirectory("tidepool-lab-").FullName;
            try
            {
                return program.Run(folder, subject);
            }
            finally
            {
                Directory.Delete(folder, recursive: true);
            }
        }

        /// <inheritdoc/>
        public override void Run(int operations)
        {
            // Nothing to warm: every run is a process of its own.
        }

        /// <inheritdoc/>
        public override Sample Measure(int operations) => Sample.OfTime(RunOnce(program, subject)["user_ns"]);
    }
}
