namespace Tidepool.Labs.Tests.Natives;

/// <summary>What is missing is said with the line that brings it, and never counts as passed.</summary>
public class NativeSubjectTests
{
    private static readonly NativeSubject Absent =
        new("absent", false, "malloc", "malloc") { Library = "libtidepool-no-such-rival.so.7", Package = "libtidepool-no-such-rival7" };

    [Fact]
    public void A_rival_that_is_not_installed_names_its_package()
    {
        Assert.False(Absent.IsInstalled);
        Assert.NotNull(Absent.Missing);
        Assert.Null(Absent.RunOnce(new ProbeSite(() => { }), "waste", "uniform"));
    }

    [DriverFact]
    public void With_drivers_the_package_is_what_is_missing()
    {
        NativeDrivers.NeedBuild();

        Assert.Equal("not installed: apt-get install libtidepool-no-such-rival7", Absent.Missing);
    }

    [Fact]
    public void A_driver_of_a_missing_rival_does_not_start()
    {
        using var driver = new DriverProcess(Absent);

        Assert.Equal(Absent.Missing, Assert.Throws<LabProcessException>(driver.Start).Message);
    }

    [Fact]
    public void Every_rival_that_needs_a_package_names_it_and_the_plan_names_the_missing_ones()
    {
        Assert.All(
            NativeSubjects.Rivals.Where(rival => rival.Library is not null || rival.Header is not null),
            rival => Assert.False(string.IsNullOrEmpty(rival.Package), rival.Name));
        var plan = LabPlan.Of(LabCatalog.Find("native")!, LabMode.Quick);
        foreach (var rival in NativeSubjects.Rivals.Where(rival => rival.Package is not null))
        {
            Assert.Equal(rival.IsInstalled, plan.Rivals.ContainsKey(rival.Package!));
            Assert.Equal(
                !rival.IsInstalled,
                plan.Hints.Exists(
                    hint => hint.Contains("apt-get install", StringComparison.Ordinal) && hint.Split(' ').Contains(rival.Package)));
        }
    }

    [Fact]
    public void Settings_of_allocators_do_not_reach_a_program()
    {
        const string Inherited = "MALLOC_TIDEPOOL_TEST";
        Environment.SetEnvironmentVariable(Inherited, "1");
        try
        {
            var start = NativeBuild.ToStartInfo("program", ["argument"], "library.so", "TIDEPOOL_PROFILE");

            Assert.False(start.Environment.ContainsKey(Inherited));
            Assert.Equal("library.so", start.Environment["LD_PRELOAD"]);
            Assert.Equal("1", start.Environment["TIDEPOOL_PROFILE"]);
            Assert.False(NativeBuild.ToStartInfo("program", []).Environment.ContainsKey("LD_PRELOAD"));
        }
        finally
        {
            Environment.SetEnvironmentVariable(Inherited, null);
        }
    }

    [Fact]
    public void The_git_history_is_the_same_every_time_and_has_its_commits()
    {
        string history = PreloadPrograms.GitHistory(50);

        Assert.Equal(history, PreloadPrograms.GitHistory(50));
        Assert.Equal(50, history.Split("commit refs/heads/main\n").Length - 1);
    }
}
