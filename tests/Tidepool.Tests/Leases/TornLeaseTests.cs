using System.Reflection;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Leases;

/// <summary>
/// What a lease that was read while it was being replaced can do: nothing. <see cref="TearingTests"/> has the races themselves.
/// </summary>
public sealed class TornLeaseTests : PoolTest
{
    private const int Short = 10; // of a buffer of 16
    private const int Long = 200;
    private const string Neighbour = "neighbour";

    /// <summary>Every way to end a rental or to use it.</summary>
    public enum Use
    {
        Span,
        Memory,
        Segment,
        ToOwner,
        Detach,
        Return,
    }

    /// <summary>Each use, in each mode, on the renting thread and elsewhere.</summary>
    public static TheoryData<Use, PoolChecks, bool> Uses
    {
        get
        {
            var all = new TheoryData<Use, PoolChecks, bool>();
            foreach (Use use in Enum.GetValues<Use>())
            {
                foreach (PoolChecks checks in Enum.GetValues<PoolChecks>())
                {
                    all.Add(use, checks, false);
                    all.Add(use, checks, true);
                }
            }

            return all;
        }
    }

    [Fact]
    public void Generation_and_length_are_one_word()
    {
        FieldInfo[] fields = typeof(BufferLease<int>).GetFields(BindingFlags.Instance | BindingFlags.NonPublic);
        Assert.Equal(typeof(ulong), Assert.Single(fields, static f => f.FieldType.IsValueType).FieldType);
        Assert.Equal(2, fields.Length);
        Assert.Equal(2 * nint.Size, Unsafe.SizeOf<BufferLease<int>>());
    }

    [Theory]
    [MemberData(nameof(Uses))]
    public void The_slot_of_one_lease_with_the_rest_of_another_is_refused(Use use, PoolChecks checks, bool elsewhere)
    {
        BufferPool<int> pool = NewPool<int>(new() { Checks = checks });
        using BufferLease<int> small = pool.Rent(Short);
        using BufferLease<int> large = pool.Rent(Long);
        BufferLease<int> torn = Torn.Of(small, large);
        Assert.False(torn.IsActive);
        Assert.False(torn == small || torn == large);
        On(elsewhere, () =>
        {
            if (use == Use.Return)
            {
                Exception? refused = Record.Exception(torn.Return);
                Assert.True(checks == PoolChecks.Off ? refused is null : refused is PoolMisuseException { Kind: MisuseKind.DoubleReturn });
            }
            else
            {
                Assert.Throws<ObjectDisposedException>(() => Do(use, torn));
            }

            torn.Dispose();
        });
        Assert.True(small.IsActive && large.IsActive);
        Assert.Equal((Short, Long), (small.Span.Length, large.Span.Length));
    }

    [Theory]
    [InlineData(Use.Segment)]
    [InlineData(Use.ToOwner)]
    [InlineData(Use.Detach)]
    public void A_length_beyond_the_buffer_is_refused_off_the_fast_path(Use use)
    {
        using BufferLease<int> small = NewPool<int>().Rent(Short);
        BufferLease<int> forged = Torn.WithLength(small, Long);
        Assert.Throws<ObjectDisposedException>(() => Do(use, forged));
        Assert.True(small.IsActive);
    }

    [Theory]
    [InlineData(0, PoolChecks.Default, false)] // into the hot place
    [InlineData(3, PoolChecks.Default, false)] // onto the stack
    [InlineData(60, PoolChecks.Default, false)] // the magazine is full
    [InlineData(0, PoolChecks.Default, true)] // posted, and settled at home
    [InlineData(60, PoolChecks.Default, true)] // posted beyond what an inbox holds
    [InlineData(0, PoolChecks.Full, false)] // settled where it is returned
    [InlineData(0, PoolChecks.Full, true)]
    public void A_return_clears_no_more_than_the_buffer(int before, PoolChecks checks, bool elsewhere)
    {
        var source = new SharedArraySource<string>(Neighbour);
        BufferPool<string> pool = NewPool<string>(new() { Source = source, Checks = checks });
        BufferLease<string>[] all = [.. Enumerable.Range(0, before + 1).Select(_ => pool.Rent(Short))];
        int capacity = all[0].Slot!.Capacity;
        On(elsewhere, () => Array.ForEach(all, lease => Torn.WithLength(lease, Long).Dispose()));
        Assert.All(all, static lease => Assert.False(lease.IsActive));
        Assert.Equal(0, pool.GetStatistics().Leased);
        pool.Trim(); // settles what waits at home
        Assert.InRange(source.Changed, 1, all.Length * capacity);
    }

    [Theory]
    [InlineData(Long)]
    [InlineData(int.MaxValue)]
    [InlineData(-1)]
    public void A_return_with_any_length_throws_nothing_and_leaves_no_magazine_busy(int length)
    {
        BufferPool<string> pool = NewPool<string>();
        using ParkedThread renter = new();
        renter.Run(() =>
        {
            for (int i = 0; i < 40; i++)
            {
                // One goes to the hot place, others to the stack, and some find both full.
                BufferLease<string>[] leases = [.. Enumerable.Range(0, 20).Select(_ => pool.Rent(Short))];
                Array.ForEach(leases, lease => Torn.WithLength(lease, length).Dispose());
            }
        });

        // The renter sleeps. A magazine that it left busy would be invalid, and the thread that closes it would wait, and then all that
        // rent.
        pool.Validate();
        Threads.Run(() => pool.Rent(Short).Dispose());
        Threads.Run(pool.Dispose);
        Threads.Run(() => NewPool<string>().Rent(Short).Dispose());
    }

    [Fact]
    public void A_clearing_pool_clears_no_more_than_the_buffer()
    {
        var source = new SharedArraySource<int>(1);
        BufferPool<int> pool = NewPool<int>(new() { Source = source, Clear = ClearMode.OnReturn });
        BufferLease<int> lease = pool.Rent(Short);
        int capacity = lease.Slot!.Capacity;
        Torn.WithLength(lease, Long).Dispose();
        Assert.Equal(capacity, source.Changed);
    }

    [Fact]
    public void A_lease_is_made_shorter_and_never_longer()
    {
        using BufferLease<int> lease = NewPool<int>().Rent(Short);
        Assert.Equal(3, lease.Shorten(3).Span.Length);
        Assert.Throws<ArgumentOutOfRangeException>(() => lease.Shorten(Short + 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => lease.Shorten(-1));
    }

    [Fact]
    public void The_slot_of_one_object_lease_with_the_generation_of_another_is_refused()
    {
        using ObjectPool<Gadget> pool = ObjectPool<Gadget>.Create(static () => new Gadget());
        Watch(pool);
        using ObjectLease<Gadget> first = pool.Rent();
        using ObjectLease<Gadget> second = pool.Rent();
        var torn = new ObjectLease<Gadget>(first.Slot!, second.Generation);
        Assert.False(torn.IsActive);
        Assert.Throws<ObjectDisposedException>(() => torn.Value);
        Assert.Throws<ObjectDisposedException>(() => torn.Detach());
        Assert.Throws<PoolMisuseException>(torn.Return);
        torn.Dispose();
        Assert.True(first.IsActive && second.IsActive);
    }

    private static void Do<T>(Use use, BufferLease<T> lease)
    {
        switch (use)
        {
            case Use.Span:
                _ = lease.Span.Length;
                break;
            case Use.Memory:
                _ = lease.Memory;
                break;
            case Use.Segment:
                _ = lease.Segment;
                break;
            case Use.ToOwner:
                lease.ToOwner();
                break;
            default:
                lease.Detach();
                break;
        }
    }

    private static void On(bool elsewhere, Action body)
    {
        if (elsewhere)
        {
            Threads.Run(body);
        }
        else
        {
            body();
        }
    }
}
