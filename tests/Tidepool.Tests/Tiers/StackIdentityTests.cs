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
            Assert.True(identity.IsKnown);
            Assert.True(identity.Is((nuint)(&here)));
            Assert.False(identity.HasEnded);
        });
    }

    [Fact]
    public unsafe void A_local_of_one_live_thread_never_proves_to_be_another()
    {
        ParkedThread[] threads = [.. Enumerable.Range(0, 16).Select(_ => new ParkedThread())];
        try
        {
            StackIdentity[] identities = [.. threads.Select(t => t.Run(StackIdentity.OfCurrentThread))];
            nuint[] locals = [.. threads.Select(t => t.Run(AddressOfALocal))];
            for (int i = 0; i < threads.Length; i++)
            {
                for (int j = 0; j < threads.Length; j++)
                {
                    Assert.Equal(i == j, identities[i].Is(locals[j]));
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
