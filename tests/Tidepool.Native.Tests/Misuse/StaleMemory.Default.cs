using System.Buffers;

namespace Tidepool.Native.Tests.Misuse;

public sealed class StaleMemoryDefault : NativeMisuseTest
{
    [Fact]
    public void A_stale_memory_throws_until_its_owner_is_rented_again_and_then_shows_that_rental()
    {
        using NativeMemoryPool<int> pool = new(checks: PoolChecks.Default);
        IMemoryOwner<int> owner = pool.Rent(100);
        Memory<int> stale = owner.Memory;
        owner.Dispose();
        int rentals = 0;
        IMemoryOwner<int> next;
        while (true)
        {
            Assert.Throws<ObjectDisposedException>(() => stale.Span.Length);
            next = pool.Rent(100);
            rentals++;
            if (ReferenceEquals(next, owner))
            {
                break;
            }

            next.Dispose();
        }

        // What the documentation says that the default mode cannot see, and after how many rentals at the earliest.
        Assert.InRange(rentals, 16, 34);
        next.Memory.Span.Fill(9);
        Assert.Equal(-1, stale.Span.IndexOfAnyExcept(9));
        next.Dispose();
        Assert.Equal(0, pool.GetStatistics().Leased);
        pool.Validate();
    }
}
