namespace Tidepool.Labs.Tests.Measuring;

[Collection("crews of threads")] // a crew has one caller
public class LoopTests
{
    public static TheoryData<string> ArraySubjects => new(
        LabPlan.Of(LabCatalog.Find("arrays")!, LabMode.Full).Workloads.Select(workload => workload.Key.Subject).Distinct());

    [Theory]
    [MemberData(nameof(ArraySubjects))]
    public void Every_loop_of_every_subject_of_arrays_runs(string subject) =>
        RunAll(LabPlan.Of(LabCatalog.Find("arrays")!, LabMode.Full).Workloads
            .Where(workload => workload.Key.Subject == subject && workload.Key.Cell["length"] is "0" or "100" or "4096"));

    [Fact]
    public void Every_loop_of_memory_runs() => RunAll(LabPlan.Of(LabCatalog.Find("memory")!, LabMode.Full).Workloads);

    [Fact]
    public void A_single_thread_loop_counts_time_and_bytes_per_operation()
    {
        using var loop = new SingleThreadLoop(operations =>
        {
            for (int i = 0; i < operations; i++)
            {
                GC.KeepAlive(new byte[1000]);
            }
        });

        Assert.Equal(1024, Samples.UsualBytes(() => loop.Measure(100)), tolerance: 8);
        Assert.True(loop.Measure(100).Nanoseconds > 0);
    }

    [Fact]
    public void A_crew_runs_every_member_at_the_same_time_and_adds_their_bytes()
    {
        using var together = new Barrier(3);
        Sample Run() => WorkerCrew.Of(3).Measure(
            _ =>
            {
                Assert.True(together.SignalAndWait(TimeSpan.FromSeconds(30)));
                GC.KeepAlive(new byte[1000]);
            },
            operations: 3);

        Run();

        Assert.InRange(Samples.UsualBytes(Run), 1024, 4096);
    }

    [Fact]
    public void A_member_that_fails_fails_the_batch_and_the_crew_goes_on()
    {
        Assert.Throws<AggregateException>(() => WorkerCrew.Of(2).Measure(
            member =>
            {
                if (member == 1)
                {
                    throw new InvalidOperationException("planted");
                }
            },
            operations: 2));
        int runs = 0;
        WorkerCrew.Of(2).Measure(_ => Interlocked.Increment(ref runs), operations: 2);

        Assert.Equal(2, runs);
    }

    [Fact]
    public void A_ring_passes_every_buffer_and_survives_a_failing_end()
    {
        using var ring = new RingLoop<SharedArrayPool<byte>, ArrayItem<byte>>(100, capacity: 1024, batch: 16);

        Assert.True(ring.Measure(16 * 200).Nanoseconds > 0);
        using var single = new RingLoop<SharedArrayPool<byte>, ArrayItem<byte>>(100, capacity: 1, batch: 1);
        Assert.True(single.Measure(200).Nanoseconds > 0);
        using var broken = new RingLoop<FailingSubject, ArrayItem<byte>>(100, capacity: 1024, batch: 16);
        Assert.Throws<AggregateException>(() => broken.Measure(16 * 200));
    }

    private static void RunAll(IEnumerable<Workload> workloads)
    {
        foreach (var workload in workloads)
        {
            using var loop = workload.Create();
            loop?.Run(loop.Granularity * 3);
        }
    }

    /// <summary>Fails after some rentals.</summary>
    private readonly struct FailingSubject : IRentalSubject<FailingSubject, ArrayItem<byte>>
    {
        private static int s_rented;

        public ArrayItem<byte> Rent(int length) =>
            ++s_rented > 100 ? throw new InvalidOperationException("planted") : new(new byte[length]);

        public void Touch(ArrayItem<byte> item) => item.Touch();

        public void Return(ArrayItem<byte> item)
        {
        }
    }
}
