using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

public sealed class StackIdentityTests
{
    [Fact]
    public unsafe void A_local_proves_that_the_thread_is_the_one_it_is()
    {
        Threads.RunAll(4, _ =>
        {
            StackIdentity identity = StackIdentity.OfCurrentThread();
            int here;
            Assert.Equal(!StackIdentity.IsNumber, identity.IsKnown);
            Assert.True(identity.Is((nuint)(&here)));
            Assert.False(identity.IsKnown && identity.HasEnded);
        });
    }

    [Fact]
    public unsafe void A_local_of_one_live_thread_never_proves_to_be_another()
    {
        ParkedThread[] threads = [.. Enumerable.Range(0, 16).Select(_ => new ParkedThread())];
        try
        {
            StackIdentity[] identities = [.. threads.Select(t => t.Run(StackIdentity.OfCurrentThread))];
            for (int i = 0; i < threads.Length; i++)
            {
                for (int j = 0; j < threads.Length; j++)
                {
                    Assert.Equal(i == j, threads[j].Run(() => identities[i].Is(AddressOfALocal())));
                }
            }
        }
        finally
        {
            Array.ForEach(threads, t => t.Dispose());
        }
    }

    [Fact]
    public void An_ended_thread_is_known_to_have_ended_and_no_address_is_its_any_more()
    {
        if (StackIdentity.IsNumber)
        {
            return; // only the runtime knows then
        }

        StackIdentity identity = StackIdentity.None;
        nuint local = 0;
        var thread = new Thread(() =>
        {
            identity = StackIdentity.OfCurrentThread();
            local = AddressOfALocal();
        });
        thread.Start();
        thread.Join();
        Assert.True(SpinWait.SpinUntil(() => identity.HasEnded, TimeSpan.FromSeconds(30)), "The end of the thread did not show.");
        Assert.False(identity.Is(local));
    }

    [Fact]
    public void The_earlier_identity_of_a_thread_is_void()
    {
        Threads.Run(() =>
        {
            StackIdentity earlier = StackIdentity.OfCurrentThread();
            StackIdentity now = StackIdentity.OfCurrentThread();
            Assert.False(earlier.Is(AddressOfALocal()));
            Assert.True(now.Is(AddressOfALocal()));
            Assert.True(earlier.IsOver);
        });
    }

    [Theory]
    [InlineData(8UL << 20, 8UL << 20)]
    [InlineData(1UL << 30, 1UL << 30)]
    [InlineData((1UL << 30) + 4096, 8UL << 20)]
    [InlineData(44_629_878UL << 20, 8UL << 20)]
    public void Of_a_range_that_is_too_long_for_a_stack_only_the_top_is_trusted(ulong size, ulong trusted)
    {
        const ulong Top = 0x7ffc_0462_1000;
        (nuint low, nuint length) = StackIdentity.Plausible(((nuint)(Top - size), (nuint)size));
        Assert.Equal(trusted, length);
        Assert.Equal(Top, low + length);
    }

    [Fact]
    public void Nobody_is_nobody()
    {
        Assert.False(StackIdentity.None.IsKnown);
        Assert.False(StackIdentity.None.Is(AddressOfALocal()));
        Assert.False(StackIdentity.None.Is(0));
    }

    private static unsafe nuint AddressOfALocal()
    {
        int here;
        return (nuint)(&here);
    }
}
