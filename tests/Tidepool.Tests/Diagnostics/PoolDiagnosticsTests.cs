using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics;

/// <summary>The callback is the process's: each test looks at the reports of its own pool.</summary>
public sealed class PoolDiagnosticsTests : PoolTest
{
    [Fact]
    public void A_misuse_is_told_with_pool_kind_and_the_message_of_the_exception()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "told", Checks = PoolChecks.Default });
        PoolMisuseException misuse = null!;
        MisuseReport report = Assert.Single(Hear(pool, () => misuse = ReturnTwice(pool)));
        Assert.Equal((MisuseKind.DoubleReturn, "told", misuse.Message, 0L), (report.Kind, report.PoolName, report.Message, report.LeftOut));
        Assert.Equal($"Tidepool: {misuse.Message}", report.ToString());
    }

    [Fact]
    public void A_handler_may_throw_use_the_pool_and_misuse_it()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "handled", Checks = PoolChecks.Default });
        int calls = 0;
        Action<MisuseReport> handler = report =>
        {
            if (report.PoolName == pool.Name)
            {
                calls++;
                Threads.Run(() => pool.Rent(100).Return()); // no lock is held that another thread would need
                pool.Trim();
                ReturnTwice(pool);
                throw new InvalidOperationException("as asked");
            }
        };
        PoolDiagnostics.MisuseReported += handler;
        try
        {
            Assert.Single(Hear(pool, () => ReturnTwice(pool)));
        }
        finally
        {
            PoolDiagnostics.MisuseReported -= handler;
        }

        Assert.Equal((1, 2L), (calls, pool.GetStatistics().GetMisuse(MisuseKind.DoubleReturn)));
    }

    [Fact]
    public void A_report_of_a_leak_begins_at_the_caller_with_file_and_line()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "leaked", Checks = PoolChecks.Full, CaptureStacks = true });
        ConcurrentQueue<MisuseReport> reports = Hear(
            pool,
            () =>
            {
                Drop(pool);
                Eventually.TrueAfterCollections(
                    () => pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned) == 1, "the dropped lease to be found");
            },
            expected: 1);
        string[] lines = Assert.Single(reports).Message.Split('\n');
        Assert.StartsWith("A leased buffer of 112 elements was dropped without being returned.", lines[0], StringComparison.Ordinal);
        Assert.Contains(nameof(Drop), lines[1], StringComparison.Ordinal);
        Assert.Matches(@"in .*PoolDiagnosticsTests\.cs:line \d+", lines[1]);
        Assert.DoesNotContain("ThreadPoolWorkQueue", lines[^1], StringComparison.Ordinal);
    }

    [Fact]
    public void An_array_that_is_dropped_is_told_with_its_length()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "leaked array", Checks = PoolChecks.Full });
        MisuseReport report = Assert.Single(Hear(
            pool,
            () =>
            {
                DropArray(pool);
                Eventually.TrueAfterCollections(
                    () => pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned) == 1, "the dropped array to be found");
            },
            expected: 1));
        Assert.StartsWith("An array of 128 elements was dropped", report.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_flood_is_held_back_and_counted()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Name = "flooded", Checks = PoolChecks.Default });
        ConcurrentQueue<MisuseReport> reports = Hear(pool, () =>
        {
            for (int i = 0; i < 1000; i++)
            {
                ReturnTwice(pool);
            }
        });
        Assert.InRange(reports.Count, ReportRate.First, ReportRate.First + 2); // one more for each minute that the machine stood still
        Assert.Equal(1000, pool.GetStatistics().GetMisuse(MisuseKind.DoubleReturn));
    }

    [Fact]
    public void After_the_first_ten_one_a_minute_goes_out_and_says_how_many_did_not()
    {
        var rate = new ReportRate();
        for (int i = 0; i < ReportRate.First; i++)
        {
            Assert.True(rate.Admits(MisuseKind.DoubleReturn, 1000 + i, out long none));
            Assert.Equal(0, none);
        }

        long last = 1000 + ReportRate.First - 1;
        Assert.False(rate.Admits(MisuseKind.DoubleReturn, last, out _));
        Assert.False(rate.Admits(MisuseKind.DoubleReturn, last + ReportRate.Interval - 1, out _));
        Assert.True(rate.Admits(MisuseKind.ForeignReturn, last, out _)); // each kind has its own ten
        Assert.True(rate.Admits(MisuseKind.DoubleReturn, last + ReportRate.Interval, out long leftOut));
        Assert.Equal(2, leftOut);
        Assert.False(rate.Admits(MisuseKind.DoubleReturn, last + ReportRate.Interval + 1, out _));
    }

    [Theory]
    [Trait("Category", "Environment")]
    [InlineData("full,log", true)]
    [InlineData("full,stacks,log", false)]
    public void A_program_without_event_sources_is_told_of_misuse_and_leaks(string checks, bool eventSources)
    {
        (int code, string output, string error) = Child.Run(Child.Reports, checks, eventSources: eventSources);
        Assert.True(code == 0, $"exit code {code}\n{output}\n{error}");
        Assert.Contains($"event sources: {eventSources}", output, StringComparison.Ordinal);
        Assert.Contains("callback: DoubleReturn reported", output, StringComparison.Ordinal);
        Assert.Contains("callback: NeverReturned reported", output, StringComparison.Ordinal);
        Assert.Contains("both told: True", output, StringComparison.Ordinal);
        Assert.Contains("Tidepool: A rental was returned twice.", error, StringComparison.Ordinal);
        Assert.Contains("was dropped without being returned.", error, StringComparison.Ordinal);
        Assert.Equal(
            checks.Contains("stacks", StringComparison.Ordinal),
            error.Contains(Child.NameOfDroppingMethod, StringComparison.Ordinal));
    }

    private static ConcurrentQueue<MisuseReport> Hear(BufferPool<byte> pool, Action action, int expected = 0)
    {
        ConcurrentQueue<MisuseReport> heard = [];
        Action<MisuseReport> handler = report =>
        {
            if (report.PoolName == pool.Name)
            {
                heard.Enqueue(report);
            }
        };
        PoolDiagnostics.MisuseReported += handler;
        try
        {
            action();
            Eventually.True(() => heard.Count >= expected, "the reports");
        }
        finally
        {
            PoolDiagnostics.MisuseReported -= handler;
        }

        return heard;
    }

    private static PoolMisuseException ReturnTwice(BufferPool<byte> pool)
    {
        BufferLease<byte> lease = pool.Rent(100);
        lease.Return();
        return Assert.Throws<PoolMisuseException>(() => lease.Return());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(BufferPool<byte> pool) => pool.Rent(100).Span.Clear();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropArray(BufferPool<byte> pool) => pool.AsArrayPool().Rent(128).AsSpan().Clear();
}
