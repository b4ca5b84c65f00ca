namespace Tidepool.Tests.Tiers;

public sealed class OwnerRingTests
{
    [Fact]
    public void An_owner_waits_until_enough_others_wait_behind_it()
    {
        OwnerRing ring = new();
        object[] owners = [.. Enumerable.Range(0, OwnerRing.Delay + 3).Select(i => (object)i)];
        for (int i = 0; i < OwnerRing.Delay; i++)
        {
            ring.Put(owners[i]);
            Assert.Null(ring.TryTake());
        }

        for (int i = OwnerRing.Delay; i < owners.Length; i++)
        {
            ring.Put(owners[i]);
            Assert.Same(owners[i - OwnerRing.Delay], ring.TryTake());
            Assert.Null(ring.TryTake());
        }
    }

    [Fact]
    public void Owners_come_out_in_the_order_in_which_they_were_put_in_however_the_ring_grows()
    {
        OwnerRing ring = new();
        Random random = new(7);
        Queue<object> expected = new();
        int next = 0;
        for (int step = 0; step < 20_000; step++)
        {
            if (random.Next(100) < (step % 2000 < 1000 ? 60 : 40) && expected.Count < 900)
            {
                object owner = next++;
                ring.Put(owner);
                expected.Enqueue(owner);
            }
            else
            {
                object? taken = ring.TryTake();
                Assert.Equal(expected.Count > OwnerRing.Delay ? expected.Dequeue() : null, taken);
            }
        }
    }

    [Fact]
    public void A_ring_is_bounded()
    {
        OwnerRing ring = new();
        for (int i = 0; i < 100_000; i++)
        {
            ring.Put(i);
        }

        int taken = 0;
        while (ring.TryTake() is { } owner)
        {
            Assert.Equal(taken, (int)owner);
            taken++;
        }

        Assert.InRange(taken, 1000, 5000);
    }
}
