namespace Tidepool.Labs.Tests.Measuring;

public class RoundRunnerTests
{
    [Fact]
    public void Subjects_of_a_cell_are_interleaved_and_each_round_begins_with_the_next()
    {
        var order = new List<string>();
        var plan = PlanOf(order, "A", "B", "C");
        var runner = new RoundRunner(plan);
        runner.Prepare([0, 1, 2], _ => { });
        runner.Measure(new MeasureRequest([0, 1, 2], Rounds: 1, BatchMicroseconds: 1), _ => { });
        order.Clear();

        runner.Measure(new MeasureRequest([0, 1, 2], Rounds: 3, BatchMicroseconds: 1), _ => { });

        Assert.Equal("A B C B C A C A B", string.Join(' ', order));
    }

    [Fact]
    public void A_subject_that_fails_loses_its_row_and_the_others_go_on()
    {
        var plan = PlanOf([], "A", "broken", "missing");
        var runner = new RoundRunner(plan);
        runner.Prepare([0, 1, 2], _ => { });

        var reply = runner.Measure(new MeasureRequest([0, 1, 2], Rounds: 2, BatchMicroseconds: 1), _ => { });

        Assert.Equal(0, Assert.Single(reply.Rounds).Workload);
        Assert.Equal(
            [(1, "planted"), (2, "not available here")],
            reply.Dropped.Select(dropped => (dropped.Workload, dropped.Reason)).Order());
    }

    [Fact]
    public void A_rare_workload_is_measured_in_its_rounds_only()
    {
        var plan = PlanOf([], everyRounds: 3, "A");
        var runner = new RoundRunner(plan);
        runner.Prepare([0], _ => { });

        var samples = Assert.Single(runner.Measure(new MeasureRequest([0], Rounds: 5, BatchMicroseconds: 1), _ => { }).Rounds).Samples;

        Assert.Equal([true, false, false, true, false], samples.Select(sample => sample is not null));
    }

    [Fact]
    public void A_batch_has_the_least_operations_that_its_loop_asks_for()
    {
        List<int> batches = [];
        var plan = PlanOf(() => new AsyncLoop(
            async operations =>
            {
                batches.Add(operations);
                await Task.Delay(10);
            },
            leastOperations: 70));
        var runner = new RoundRunner(plan);
        runner.Prepare([0], _ => { });
        runner.Measure(new MeasureRequest([0], Rounds: 1, BatchMicroseconds: 1), _ => { });
        batches.Clear();

        runner.Measure(new MeasureRequest([0], Rounds: 2, BatchMicroseconds: 1), _ => { });

        Assert.Equal([4, 70, 4, 70], batches); // each after a sixteenth of it, not measured
    }

    [Fact]
    public void A_short_batch_comes_after_one_turn_of_its_loop()
    {
        List<int> batches = [];
        var plan = PlanOf(() => new SingleThreadLoop(
            operations =>
            {
                batches.Add(operations);
                Thread.Sleep(1);
            },
            granularity: 8));
        var runner = new RoundRunner(plan);
        runner.Prepare([0], _ => { });
        runner.Measure(new MeasureRequest([0], Rounds: 1, BatchMicroseconds: 1), _ => { });
        batches.Clear();

        runner.Measure(new MeasureRequest([0], Rounds: 2, BatchMicroseconds: 1), _ => { });

        Assert.Equal([8, 8, 8, 8], batches);
    }

    private static LabPlan PlanOf(List<string> order, params string[] subjects) => PlanOf(order, 1, subjects);

    private static LabPlan PlanOf(List<string> order, int everyRounds, params string[] subjects)
    {
        var plan = new LabPlan(LabMode.Quick);
        foreach (string subject in subjects)
        {
            Func<Loop?> create = () => subject switch
            {
                "missing" => null,
                "broken" => new SingleThreadLoop(_ => throw new InvalidOperationException("planted")),
                _ => new SingleThreadLoop(_ => order.Add(subject)),
            };
            plan.Add(WorkloadOf(subject, create, everyRounds, fixedOperations: 1));
        }

        return plan;
    }

    private static LabPlan PlanOf(Func<Loop?> create)
    {
        var plan = new LabPlan(LabMode.Quick);
        plan.Add(WorkloadOf("A", create));
        return plan;
    }

    private static Workload WorkloadOf(string subject, Func<Loop?> create, int everyRounds = 1, int fixedOperations = 0) => new()
    {
        Key = new(FakeLab.Main, subject),
        Section = new Section { Title = "t", About = "a", Varies = [] },
        Ours = false,
        EveryRounds = everyRounds,
        FixedOperations = fixedOperations,
        Create = create,
    };
}
