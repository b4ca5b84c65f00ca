using System.Runtime.CompilerServices;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class NeverReturnedDefault() : MisuseTest(PoolChecks.Default, leakSampling: 4)
{
    [Fact]
    public void The_memory_is_collected_and_one_dropped_rental_in_a_sample_is_reported()
    {
        WeakReference[] buffers = LeakHere();
        Eventually.TrueAfterCollections(() => Array.TrueForAll(buffers, b => !b.IsAlive), "the buffers of dropped leases to be collected");
        Eventually.TrueAfterCollections(() => Count(MisuseKind.NeverReturned) == 5, "one in four of twenty dropped rentals to be reported");
        Eventually.True(() => Reported.Count == 5, "the reports");
        Assert.All(Reported, message =>
        {
            Assert.Contains("dropped without being returned", message, StringComparison.Ordinal);
            Assert.Contains(Name, message, StringComparison.Ordinal);
            Assert.Contains(nameof(LeakHere), message, StringComparison.Ordinal);
        });
        Forgive(Pool, buffers.Length);
        AssertNoTwoRenters();
    }

    [Fact]
    public void What_is_returned_is_never_reported()
    {
        ReturnAll();
        Pool.Trim();
        Eventually.Collect();
        Eventually.Collect();
        Assert.Equal(0, Count(MisuseKind.NeverReturned));
        Assert.Empty(Reported);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WeakReference[] LeakHere()
    {
        WeakReference[] buffers = new WeakReference[20];
        for (int i = 0; i < buffers.Length; i++)
        {
            buffers[i] = new WeakReference(Pool.Rent(100).Segment.Array);
        }

        return buffers;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ReturnAll()
    {
        BufferLease<int>[] leases = [.. Enumerable.Range(0, 40).Select(_ => Pool.Rent(100))];
        Array.ForEach(leases, l => l.Return());
        Threads.Run(() => Pool.Rent(5000).Dispose());
    }
}
