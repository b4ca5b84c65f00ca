namespace Tidepool.Native.Tests.Misuse;

public sealed class NeverReturned : NativeMisuseTest
{
    [Fact]
    public void Every_dropped_lease_is_freed_by_its_finalizer_and_reported()
    {
        long live = NativePressure.Live;
        RentAndDrop(50, 100);
        Assert.True(RentAndDrop(10, 100_000) >= live + 4_000_000);
        Eventually.TrueAfterCollections(() => Count(MisuseKind.NeverReturned) == 60, "sixty dropped leases to be reported");
        Eventually.TrueAfterCollections(() => NativePressure.Live == live, "their memory to go back to the library");
        Assert.Equal((0, 0), (Pool.GetStatistics().Leased, Pool.GetStatistics().BytesLeased));
        AssertNoTwoRenters();
    }

    [Fact]
    public void A_dropped_owner_is_freed_and_reported()
    {
        long live = NativePressure.Live;
        using NativeMemoryPool<byte> pool = new();
        Threads.Run(() => Drop(pool));
        Eventually.TrueAfterCollections(
            () =>
            {
                pool.Trim(); // owners that wait for their reuse on the thread that ended refer to what they rented last
                return pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned) == 5;
            },
            "five dropped owners to be reported");
        Eventually.TrueAfterCollections(() => NativePressure.Live == live, "their memory to go back to the library");

        static void Drop(NativeMemoryPool<byte> pool)
        {
            for (int i = 0; i < 5; i++)
            {
                pool.Rent(50_000).Memory.Span[0] = 1;
            }
        }
    }
}
