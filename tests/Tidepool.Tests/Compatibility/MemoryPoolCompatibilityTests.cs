using System.Buffers;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Compatibility;

[Collection(SharedPoolsCollection.Name)]
public sealed class SharedMemoryPoolTests(ITestOutputHelper output) : MemoryPoolCompatibility(output)
{
    protected override MemoryPool<int> Pool => BufferPool<int>.Shared.AsMemoryPool();

    [Fact]
    public void There_is_one_shared_memory_pool() =>
        Assert.Same(BufferPool<int>.Shared.AsMemoryPool(), BufferPool<int>.Shared.AsMemoryPool());

    [Fact]
    public void Dispose_of_the_shared_memory_pool_does_nothing()
    {
        MemoryPool<int> pool = BufferPool<int>.Shared.AsMemoryPool();
        pool.Dispose();
        pool.Dispose();
        using IMemoryOwner<int> owner = pool.Rent(10);
        Assert.True(owner.Memory.Length >= 10);
    }

    [Fact]
    public void The_largest_size_is_the_longest_array() => Assert.Equal(Array.MaxLength, Pool.MaxBufferSize);
}

[Collection(SharedPoolsCollection.Name)]
public sealed class RuntimeMemoryPoolTests(ITestOutputHelper output) : MemoryPoolCompatibility(output)
{
    protected override MemoryPool<int> Pool => MemoryPool<int>.Shared;
}

/// <summary>Fresh owners over an independent pool.</summary>
public sealed class AdapterMemoryPoolTests : MemoryPoolCompatibility
{
    public AdapterMemoryPoolTests(ITestOutputHelper output)
        : base(output)
    {
        Pool = NewPool<int>(new() { Name = "adapter" }).AsMemoryPool();
    }

    protected override MemoryPool<int> Pool { get; }
}

public sealed class FreshOwnersMemoryPoolTests : MemoryPoolCompatibility
{
    public FreshOwnersMemoryPoolTests(ITestOutputHelper output)
        : base(output)
    {
        Pool = new PooledMemoryPool<int>(NewPool<int>(new() { Name = "fresh owners" }));
    }

    protected override MemoryPool<int> Pool { get; }
}

public sealed class ReusedOwnersMemoryPoolTests : MemoryPoolCompatibility
{
    public ReusedOwnersMemoryPoolTests(ITestOutputHelper output)
        : base(output)
    {
        Pool = new PooledMemoryPool<int>(NewPool<int>(new() { Name = "reused owners" }), OwnerReuse.Guarded);
    }

    protected override MemoryPool<int> Pool { get; }

    [Fact]
    public void A_late_second_Dispose_meets_a_retired_owner_and_not_a_new_renter()
    {
        for (int late = 1; late < 8; late++)
        {
            IMemoryOwner<int> stale = Pool.Rent(100);
            stale.Dispose();
            IMemoryOwner<int>[] current = [.. Enumerable.Range(0, late).Select(_ => Pool.Rent(100))];
            for (int i = 0; i < late; i++)
            {
                current[i].Memory.Span.Fill(i);
            }

            stale.Dispose();
            using (IMemoryOwner<int> other = Pool.Rent(100))
            {
                other.Memory.Span.Fill(-1);
                for (int i = 0; i < late; i++)
                {
                    Assert.Equal(-1, current[i].Memory.Span.IndexOfAnyExcept(i));
                }
            }

            Array.ForEach(current, c => c.Dispose());
        }
    }
}

public sealed class UnguardedOwnersMemoryPoolTests : MemoryPoolCompatibility
{
    public UnguardedOwnersMemoryPoolTests(ITestOutputHelper output)
        : base(output)
    {
        Pool = new PooledMemoryPool<int>(NewPool<int>(new() { Name = "unguarded owners" }), OwnerReuse.Unguarded);
    }

    protected override MemoryPool<int> Pool { get; }
}

public sealed class SlabMemoryPoolCompatibilityTests : MemoryPoolCompatibility
{
    private readonly SlabMemoryPool<int> _pool = new(1024);

    public SlabMemoryPoolCompatibilityTests(ITestOutputHelper output)
        : base(output)
    {
    }

    protected override MemoryPool<int> Pool => _pool;

    protected override bool BeginsAtTheArray => false;

    protected override void Dispose(bool disposing)
    {
        _pool.Dispose();
        base.Dispose(disposing);
    }
}

public sealed class PinnedMemoryPoolCompatibilityTests : MemoryPoolCompatibility
{
    private readonly PinnedMemoryPool<int> _pool = new(1024);

    public PinnedMemoryPoolCompatibilityTests(ITestOutputHelper output)
        : base(output)
    {
    }

    protected override MemoryPool<int> Pool => _pool;

    protected override bool BeginsAtTheArray => false;

    protected override void Dispose(bool disposing)
    {
        _pool.Dispose();
        base.Dispose(disposing);
    }
}
