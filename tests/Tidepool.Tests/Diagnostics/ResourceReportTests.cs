using System.Collections.Concurrent;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics;

/// <summary>What a program hears of the supply of its resource pools.</summary>
public sealed class ResourceReportTests : ResourceTest
{
    [Fact]
    public async Task A_failed_creation_is_reported_with_its_cause_and_the_first_one_with_the_pause_before_the_next()
    {
        ResourcePool<FakeResource> pool = NewPool(Options() with { Name = "supply" });
        using var heard = new Heard(pool.Name);
        Policy.CreateError = new IOException("refused");
        await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(pool.RentAsync().AsTask()));

        Assert.Equal([ResourceReportKind.CreateFailed, ResourceReportKind.BackedOff], heard.Kinds);
        ResourceReport failed = heard.Reports[0];
        Assert.Same(Policy.CreateError, failed.Exception);
        Assert.StartsWith($"Pool '{pool.Name}' could not create a resource: IOException: refused (", failed.Message);
        Assert.Equal("Tidepool: " + failed.Message, failed.ToString());
        Assert.StartsWith(
            $"Pool '{pool.Name}' backs off after a failed creation: the next attempt is in ", heard.Reports[1].Message);
        Assert.Contains("BackoffMax = 10 s", heard.Reports[1].Message, StringComparison.Ordinal);
        Assert.Null(heard.Reports[1].Exception);
    }

    [Fact]
    public async Task The_end_of_an_outage_is_reported_once()
    {
        ResourcePool<FakeResource> pool = NewPool();
        using var heard = new Heard(pool.Name);
        Policy.CreateError = new IOException("refused");
        await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(pool.RentAsync().AsTask()));
        Time.Advance(Second * 3);
        Policy.CreateError = null;
        Rent(pool).Dispose();
        using (ResourceLease<FakeResource> one = Rent(pool))
        {
            Rent(pool).Dispose();
        }

        Assert.Equal([ResourceReportKind.CreateFailed, ResourceReportKind.BackedOff, ResourceReportKind.Recovered], heard.Kinds);
        Assert.Equal($"Pool '{pool.Name}' creates again, after 3 s of failures.", heard.Reports[^1].Message);
    }

    [Fact]
    public async Task A_failure_that_lasts_says_what_it_means_for_rentals()
    {
        ResourcePool<FakeResource> pool = NewPool();
        using var heard = new Heard(pool.Name);
        Policy.CreateError = new IOException("password");
        Policy.Permanent = static _ => true;
        await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(pool.RentAsync().AsTask()));
        Assert.Contains("refused at once", heard.Reports[1].Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_clear_is_reported_with_what_it_ends()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3));
        using var heard = new Heard(pool.Name);
        using (ResourceLease<FakeResource> leased = Rent(pool))
        {
            using (ResourceLease<FakeResource> other = Rent(pool))
            {
                Rent(pool).Dispose();
            }

            await pool.ClearAsync();
        }

        ResourceReport report = Assert.Single(heard.Reports);
        Assert.Equal(
            $"Pool '{pool.Name}' was cleared: 2 idle ones end now, 1 in use when they come back.", report.Message);
        Assert.Equal((ResourceReportKind.Cleared, ""), (report.Kind, report.Key));
    }

    [Fact]
    public async Task A_report_of_a_keyed_pool_names_the_key()
    {
        Policy.CreateError = new IOException("refused");
        await using var pool = new KeyedResourcePool<string, FakeResource>(
            _ => Policy, new() { PerKey = Options() with { Name = "hosts" }, MaxTotal = 4 });
        using var heard = new Heard(pool.Name);
        await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(pool.RentAsync("example").AsTask()));
        Assert.All(heard.Reports, static report => Assert.Equal("example", report.Key));
        Assert.Contains($"Pool '{pool.Name}' (key 'example')", heard.Reports[0].Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_handler_that_throws_or_rents_hurts_no_rental_and_no_other_handler()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3));
        Rent(pool).Dispose();
        Action<ResourceReport> thrower = report => throw new InvalidOperationException(report.Message);
        Action<ResourceReport> renter = report =>
        {
            if (report.PoolName == pool.Name)
            {
                Rent(pool).Dispose();
            }
        };
        PoolDiagnostics.ResourceReported += thrower;
        PoolDiagnostics.ResourceReported += renter;
        try
        {
            using var heard = new Heard(pool.Name);
            Assert.True(pool.ClearAsync().IsCompletedSuccessfully);
            Rent(pool).Dispose();
            Assert.Equal([ResourceReportKind.Cleared], heard.Kinds);
        }
        finally
        {
            PoolDiagnostics.ResourceReported -= renter;
            PoolDiagnostics.ResourceReported -= thrower;
        }
    }

    [Fact]
    public void A_flood_is_held_back_and_says_so()
    {
        ResourcePool<FakeResource> pool = NewPool();
        using var heard = new Heard(pool.Name);
        for (int i = 0; i < 1000; i++)
        {
            Assert.True(pool.ClearAsync().IsCompletedSuccessfully);
        }

        // One more for each minute that the machine stood still.
        Assert.InRange(heard.Reports.Length, ReportRate.First, ReportRate.First + 2);
        var last = new ResourceReport(ResourceReportKind.Cleared, "p", "", "Cleared.") { LeftOut = 2 };
        Assert.Equal("Tidepool: Cleared.\n(2 more of this kind and pool were held back before this one.)", last.ToString());
    }

    [Fact]
    [Trait("Category", "Environment")]
    public void A_program_without_a_handler_finds_them_on_standard_error()
    {
        (int code, string output, string error) = Child.Run(Child.Supply, "full,log", eventSources: false);
        Assert.True(code == 0, $"exit code {code}\n{output}\n{error}");
        foreach (string start in (string[])
        [
            "Tidepool: Pool 'supply' could not create a resource: IOException: refused (",
            "Tidepool: Pool 'supply' backs off after a failed creation: ",
            "Tidepool: Pool 'supply' creates again, after ",
            "Tidepool: Pool 'supply' was cleared: 1 idle ones end now, 0 in use when they come back.",
        ])
        {
            Assert.Contains(error.Split('\n'), line => line.StartsWith(start, StringComparison.Ordinal));
        }
    }

    /// <summary>Collects the reports of one pool.</summary>
    private sealed class Heard : IDisposable
    {
        private readonly ConcurrentQueue<ResourceReport> _reports = [];
        private readonly string _pool;

        internal Heard(string pool)
        {
            _pool = pool;
            PoolDiagnostics.ResourceReported += Note;
        }

        internal ResourceReport[] Reports => [.. _reports];

        internal IEnumerable<ResourceReportKind> Kinds => _reports.Select(static report => report.Kind);

        public void Dispose() => PoolDiagnostics.ResourceReported -= Note;

        private void Note(ResourceReport report)
        {
            if (report.PoolName == _pool)
            {
                _reports.Enqueue(report);
            }
        }
    }
}
