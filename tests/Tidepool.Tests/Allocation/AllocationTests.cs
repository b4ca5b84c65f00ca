using System.Buffers;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Allocation;

/// <summary>A rental that a tier serves allocates nothing, in every form.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class AllocationTests : PoolTest
{
    public static TheoryData<int> Lengths => [1, 100, 4096, 100_000];

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_lease_of_an_independent_pool_allocates_nothing(int length)
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Checks = PoolChecks.Default });
        AssertNothing(() =>
        {
            BufferLease<byte> lease = pool.Rent(length);
            lease.Span[0] = 1;
            lease.Return();
        });
    }

    [Fact]
    public void Objects_leased_and_raw_allocate_nothing()
    {
        using var pool = new StringBuilderPool();
        ObjectPool<System.Text.StringBuilder> seen = pool;
        AssertNothing(() =>
        {
            using ObjectLease<System.Text.StringBuilder> lease = pool.Rent();
            lease.Value.Append('x');
            System.Text.StringBuilder raw = seen.RentRaw();
            seen.ReturnRaw(raw);
            using PooledStringBuilder text = PooledStringBuilder.Rent();
            text.Builder.Append('x');
        });
    }

    [Fact]
    public void Objects_that_go_through_the_shared_tier_allocate_nothing()
    {
        using var pool = new StringBuilderPool();
        var leases = new ObjectLease<System.Text.StringBuilder>[40];
        AssertNothing(() =>
        {
            for (int i = 0; i < leases.Length; i++)
            {
                leases[i] = pool.Rent();
            }

            foreach (ObjectLease<System.Text.StringBuilder> lease in leases)
            {
                lease.Return();
            }
        });
    }

    [Fact]
    public void A_lease_of_length_zero_allocates_nothing()
    {
        BufferPool<byte> pool = NewPool<byte>();
        AssertNothing(() => pool.Rent(0).Return());
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_lease_of_the_shared_pool_allocates_nothing(int length) =>
        AssertNothing(() =>
        {
            using BufferLease<byte> lease = BufferPool<byte>.Shared.Rent(length);
            lease.Memory.Span[0] = 1;
        });

    [Fact]
    public void Eight_leases_at_once_allocate_nothing()
    {
        BufferPool<byte> pool = NewPool<byte>();
        BufferLease<byte>[] leases = new BufferLease<byte>[8];
        AssertNothing(() =>
        {
            for (int i = 0; i < leases.Length; i++)
            {
                leases[i] = pool.Rent(1000);
            }

            foreach (BufferLease<byte> lease in leases)
            {
                lease.Return();
            }
        });
    }

    [Fact]
    public void A_hundred_leases_at_once_allocate_nothing_though_they_pass_the_shared_tier()
    {
        BufferPool<byte> pool = NewPool<byte>();
        BufferLease<byte>[] leases = new BufferLease<byte>[100];
        AssertNothing(
            () =>
            {
                for (int i = 0; i < leases.Length; i++)
                {
                    leases[i] = pool.Rent(1000);
                }

                foreach (BufferLease<byte> lease in leases)
                {
                    lease.Return();
                }
            },
            operations: 100);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(1000)]
    [InlineData(5000)]
    public void Many_leases_rented_for_the_second_time_allocate_nothing(int count)
    {
        BufferLease<byte>[] leases = new BufferLease<byte>[count];
        BufferPool<byte> rehearsal = NewPool<byte>();
        RentAll(rehearsal);
        ReturnAll();
        RentAll(rehearsal);
        ReturnAll();
        Assert.Equal(0, Allocations.Usual(() =>
        {
            BufferPool<byte> pool = NewPool<byte>();
            RentAll(pool);
            ReturnAll();
            long allocated = Allocations.Of(() => RentAll(pool));
            ReturnAll();
            return allocated;
        }));

        void RentAll(BufferPool<byte> pool)
        {
            for (int i = 0; i < leases.Length; i++)
            {
                leases[i] = pool.Rent(100);
            }
        }

        void ReturnAll()
        {
            foreach (BufferLease<byte> lease in leases)
            {
                lease.Return();
            }
        }
    }

    [Fact]
    public void A_lease_of_elements_with_references_allocates_nothing()
    {
        BufferPool<string> pool = NewPool<string>();
        AssertNothing(() =>
        {
            using BufferLease<string> lease = pool.Rent(20);
            lease.Span.Fill("x");
        });
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_scope_allocates_nothing(int length)
    {
        BufferPool<byte> pool = NewPool<byte>();
        AssertNothing(() =>
        {
            using ArrayScope<byte> scope = pool.RentScope(length);
            scope.Span[0] = 1;
        });
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_raw_array_allocates_nothing(int length)
    {
        ArrayPool<byte> pool = NewPool<byte>().AsArrayPool();
        AssertNothing(() => pool.Return(pool.Rent(length)));
    }

    [Fact]
    public void An_empty_raw_array_allocates_nothing()
    {
        ArrayPool<byte> pool = NewPool<byte>().AsArrayPool();
        AssertNothing(() => pool.Return(pool.Rent(0)));
    }

    [Fact]
    public void A_raw_array_of_the_shared_pool_allocates_nothing() =>
        AssertNothing(() => BufferPool<char>.Shared.AsArrayPool().Return(BufferPool<char>.Shared.AsArrayPool().Rent(100)));

    [Theory]
    [InlineData(OwnerReuse.Guarded)]
    [InlineData(OwnerReuse.Unguarded)]
    public void A_reused_memory_owner_allocates_nothing(OwnerReuse reuse)
    {
        using PooledMemoryPool<byte> pool = new(NewPool<byte>(), reuse);
        AssertNothing(() =>
        {
            using IMemoryOwner<byte> owner = pool.Rent(1000);
            owner.Memory.Span[0] = 1;
        });
    }

    [Fact]
    public void A_block_of_a_slab_pool_allocates_nothing()
    {
        using SlabMemoryPool<byte> pool = new();
        AssertNothing(() =>
        {
            using IMemoryOwner<byte> owner = pool.Rent();
            owner.Memory.Span[0] = 1;
        });
    }

    [Fact]
    public void A_block_of_a_pinned_pool_allocates_nothing()
    {
        using PinnedMemoryPool<byte> pool = new();
        AssertNothing(() =>
        {
            using IMemoryOwner<byte> owner = pool.Rent();
            owner.Memory.Span[0] = 1;
        });
    }

    [Fact]
    public void A_thread_handle_allocates_nothing_once_it_is_warm()
    {
        BufferPool<byte> pool = NewPool<byte>();
        Assert.Equal(0, Allocations.Usual(() =>
        {
            using ThreadHandle<byte> handle = pool.GetThreadHandle(1000);
            Use(handle);
            long before = GC.GetAllocatedBytesForCurrentThread();
            Use(handle);
            return GC.GetAllocatedBytesForCurrentThread() - before;
        }));

        static void Use(in ThreadHandle<byte> handle)
        {
            for (int i = 0; i < 1000; i++)
            {
                BufferLease<byte> lease = handle.Rent(1000);
                lease.Span[0] = 1;
                handle.Return(lease);
            }
        }
    }

    [Fact]
    public void A_lease_of_a_pool_without_checks_allocates_nothing()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Checks = PoolChecks.Off });
        AssertNothing(() => pool.Rent(100).Return());
    }

    [Theory]
    [InlineData(ClearMode.OnRent, false)]
    [InlineData(ClearMode.OnReturn, false)]
    [InlineData(ClearMode.Never, true)]
    public void A_lease_of_a_pool_that_clears_allocates_nothing(ClearMode clear, bool secrets)
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Clear = clear, Secrets = secrets });
        AssertNothing(() => pool.Rent(100).Return());
    }

    [Fact]
    public void A_lease_of_a_pool_over_slabs_with_classes_of_its_own_allocates_nothing()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = new SlabSource<byte>(), Sizes = SizeClasses.FromLengths(100, 1000) });
        AssertNothing(() => pool.Rent(500).Return());
    }

    [Fact]
    public void A_stale_Dispose_allocates_nothing()
    {
        BufferPool<byte> pool = NewPool<byte>();
        AssertNothing(() =>
        {
            using BufferLease<byte> lease = pool.Rent(100);
            lease.Return();
        });
    }

    [Fact]
    public void A_return_on_another_thread_allocates_nothing()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using ParkedThread other = new();
        BufferLease<byte>[] leases = new BufferLease<byte>[50];
        Action rent = () =>
        {
            for (int i = 0; i < leases.Length; i++)
            {
                leases[i] = pool.Rent(100);
            }
        };
        Action give = () =>
        {
            foreach (BufferLease<byte> lease in leases)
            {
                lease.Return();
            }
        };
        for (int i = 0; i < 100; i++)
        {
            rent();
            other.Run(give);
        }

        Assert.Equal(0, Allocations.Usual(() =>
        {
            long allocated = 0;
            for (int i = 0; i < 20; i++)
            {
                allocated += Allocations.Of(rent);
                other.Run(() => allocated += Allocations.Of(give));
            }

            return allocated;
        }));
    }

    private static void AssertNothing(Action operation, int operations = 5000) => Assert.Equal(0, Allocations.Each(operation, operations));
}
