using System.Runtime.CompilerServices;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

/// <summary>Leases are dropped without a return, and the garbage collector finds their buffers.</summary>
public abstract class NeverReturned(PoolChecks mode, bool stacks = false, int leakSampling = 0) : MisuseTest(mode, stacks, leakSampling)
{
    /// <summary>Drops so many leases and waits until their buffers are collected.</summary>
    protected void Drop(int count)
    {
        WeakReference[] buffers = LeakHere(count);
        Eventually.TrueAfterCollections(
            () => Array.TrueForAll(buffers, static b => !b.IsAlive), "the buffers of dropped leases to be collected");
    }

    /// <summary>So many of the dropped leases are reported, with the place where they were rented.</summary>
    protected void AssertReported(int count)
    {
        Eventually.TrueAfterCollections(() => Count(MisuseKind.NeverReturned) == count, $"{count} dropped rentals to be reported");
        Eventually.True(() => Reported.Count == count, "the reports");
        Assert.All(Reported, message =>
        {
            Assert.Contains("dropped without being returned", message, StringComparison.Ordinal);
            Assert.Contains(Name, message, StringComparison.Ordinal);
            Assert.Contains(nameof(LeakHere), message, StringComparison.Ordinal);
        });
    }

    /// <summary>Drops nothing, and nothing is reported.</summary>
    protected void ReturnEverything()
    {
        ReturnAll();
        Pool.Trim();
        Eventually.Collect();
        Eventually.Collect();
        Assert.Equal(0, Count(MisuseKind.NeverReturned));
        Assert.Empty(Reported);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WeakReference[] LeakHere(int count)
    {
        var buffers = new WeakReference[count];
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
        Array.ForEach(leases, static l => l.Return());
        Pool.AsArrayPool().Return(Pool.AsArrayPool().Rent(128));
        Threads.Run(() => Pool.Rent(5000).Dispose());
    }
}
