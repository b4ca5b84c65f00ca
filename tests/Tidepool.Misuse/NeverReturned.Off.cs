using System.Runtime.CompilerServices;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class NeverReturnedOff() : MisuseTest(PoolChecks.Off)
{
    [Fact]
    public void The_memory_is_collected_and_the_rental_stays_counted_as_out()
    {
        WeakReference[] buffers = Leak();
        Eventually.TrueAfterCollections(() => Array.TrueForAll(buffers, b => !b.IsAlive), "the buffers of dropped leases to be collected");
        Assert.Equal(buffers.Length, Pool.GetStatistics().Leased);
        Forgive(Pool, buffers.Length);
        AssertNoTwoRenters();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WeakReference[] Leak() => [.. Enumerable.Range(0, 20).Select(_ => new WeakReference(Pool.Rent(100).Segment.Array))];
}
