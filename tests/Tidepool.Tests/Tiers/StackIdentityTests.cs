using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

public sealed class StackIdentityTests
{
    [Fact]
    public unsafe void A_local_lies_within_the_bounds_of_its_thread()
    {
        Threads.RunAll(4, _ =>
        {
            (nuint low, nuint size) = StackIdentity.OfCurrentThread();
            int here;
            Assert.True((nuint)(&here) - low < size);
            Assert.Equal((low, size), StackIdentity.OfCurrentThread());
        });
    }

    [Fact]
    public void Live_threads_have_bounds_that_do_not_overlap()
    {
        ParkedThread[] threads = [.. Enumerable.Range(0, 16).Select(_ => new ParkedThread())];
        try
        {
            (nuint Low, nuint Size)[] bounds = [.. threads.Select(t => t.Run(StackIdentity.OfCurrentThread)).Append(StackIdentity.OfCurrentThread()).OrderBy(b => b.Low)];
            for (int i = 1; i < bounds.Length; i++)
            {
                Assert.True(bounds[i - 1].Low + bounds[i - 1].Size <= bounds[i].Low);
            }
        }
        finally
        {
            Array.ForEach(threads, t => t.Dispose());
        }
    }
}
