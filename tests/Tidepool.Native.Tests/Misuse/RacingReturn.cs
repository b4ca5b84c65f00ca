namespace Tidepool.Native.Tests.Misuse;

public sealed class RacingReturn : NativeMisuseTest
{
    [Fact]
    public void Of_two_racing_returns_on_other_threads_one_throws()
    {
        for (int round = 0; round < 100; round++)
        {
            BufferLease<int> lease = Pool.Rent(100);
            int thrown = 0;
            Threads.RunAll(2, _ =>
            {
                try
                {
                    lease.Return();
                }
                catch (PoolMisuseException)
                {
                    Interlocked.Increment(ref thrown);
                }
            });
            Assert.Equal(1, thrown);
        }

        AssertNoTwoRenters();
    }
}
