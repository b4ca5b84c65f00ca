using System.Buffers;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

/// <summary>
/// What is rented on one thread goes back on another, which is no mistake: each step ends with the check that none was reported.
/// </summary>
public abstract class ReturnOnAnotherThread(PoolChecks mode) : MisuseTest(mode)
{
    protected void ReturnLeasesThere()
    {
        for (int round = 0; round < 50; round++)
        {
            BufferLease<int> lease = Pool.Rent(100);
            lease.Span.Fill(round);
            Threads.Run(() =>
            {
                Assert.Equal(-1, lease.Span.IndexOfAnyExcept(round));
                lease.Return();
            });
            Assert.False(lease.IsActive);
        }

        AssertNothingWasReported();
    }

    protected void DisposeLeasesThereWhileTheRenterGoesOn()
    {
        using ParkedThread other = new();
        for (int round = 0; round < 200; round++)
        {
            BufferLease<int> mine = Pool.Rent(100);
            BufferLease<int> given = Pool.Rent(100);
            mine.Span.Fill(1);
            other.Run(() => given.Dispose());
            using BufferLease<int> next = Pool.Rent(100);
            next.Span.Fill(2);
            Assert.Equal(-1, mine.Span.IndexOfAnyExcept(1));
            mine.Dispose();
        }

        AssertNothingWasReported();
    }

    protected void ReturnOwnersAndAnArrayThere()
    {
        IMemoryOwner<int> owner = Pool.Rent(100).ToOwner();
        IMemoryOwner<int> memory = Pool.AsMemoryPool().Rent(100);
        int[] array = Pool.AsArrayPool().Rent(128);
        Threads.Run(() =>
        {
            owner.Dispose();
            memory.Dispose();
            Pool.AsArrayPool().Return(array);
        });
        AssertNothingWasReported();
    }

    protected void ReturnHereWhatAThreadRentedThatHasEnded()
    {
        BufferLease<int> lease = Threads.Run(() => Pool.Rent(100));
        lease.Span.Fill(1);
        lease.Return();
        AssertNothingWasReported();
    }

    private void AssertNothingWasReported()
    {
        AssertNoTwoRenters();
        Assert.Equal(0, Pool.GetStatistics().Misuses);
        Assert.Equal(0, Pool.GetStatistics().StaleDisposes);
        Assert.Equal(0, Pool.GetStatistics().Leased);
        Assert.Empty(Reported);
    }
}
