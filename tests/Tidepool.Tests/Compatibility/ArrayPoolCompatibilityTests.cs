using System.Buffers;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Compatibility;

/// <summary>The suite over an independent pool's adapter.</summary>
public sealed class IndependentArrayPoolTests(ITestOutputHelper output) : ArrayPoolCompatibility(output)
{
    private readonly Dictionary<Type, object> _pools = [];

    protected override bool IsOurs => true;

    [Fact]
    public void Arrays_that_were_never_rented_before_are_clear()
    {
        AllocatedArraysAreClear<byte>();
        AllocatedArraysAreClear<string>();
        AllocatedArraysAreClear<DateTime>();
    }

    [Fact]
    public void A_length_above_the_longest_of_the_pool_is_served_and_not_kept()
    {
        BufferPool<byte> owner = Watch(BufferPool<byte>.Create(new() { MaxLength = 100 }));
        byte[] array = owner.AsArrayPool().Rent(200);
        Assert.True(array.Length >= 200);
        owner.AsArrayPool().Return(array);
        byte[] again = owner.AsArrayPool().Rent(200);
        owner.AsArrayPool().Return(again);
    }

    [Fact]
    public void Two_pools_are_two_adapters() =>
        Assert.NotSame(BufferPool<byte>.Create().AsArrayPool(), BufferPool<byte>.Create().AsArrayPool());

    protected override ArrayPool<T> Pool<T>()
    {
        // One pool for each element type of a test. Foreign arrays and abandoned rentals are what some of these tests are about, so these
        // pools are not held to equal counts.
        if (!_pools.TryGetValue(typeof(T), out object? pool))
        {
            _pools.Add(typeof(T), pool = BufferPool<T>.Create(new() { Name = "independent", Checks = PoolChecks.Default }));
        }

        return ((BufferPool<T>)pool).AsArrayPool();
    }

    protected override void Dispose(bool disposing)
    {
        foreach (object pool in _pools.Values)
        {
            pool.GetType().GetMethod("Validate")!.Invoke(pool, null);
            ((IDisposable)pool).Dispose();
        }

        base.Dispose(disposing);
    }

    private void AllocatedArraysAreClear<T>()
    {
        ArrayPool<T> pool = NewPool<T>().AsArrayPool();
        List<T[]> arrays = [];
        for (int length = 1; length <= 1000; length++)
        {
            T[] array = pool.Rent(length);
            if (array.Any(element => !EqualityComparer<T>.Default.Equals(element, default)))
            {
                Assert.Fail($"A new array of {length} elements is not clear.");
            }

            arrays.Add(array);
        }

        arrays.ForEach(a => pool.Return(a));
    }
}

/// <summary>The suite over the shared pool's adapter.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class SharedArrayPoolTests(ITestOutputHelper output) : ArrayPoolCompatibility(output)
{
    protected override bool IsOurs => true;

    [Fact]
    public void The_shared_adapter_is_one_object() =>
        Assert.Same(BufferPool<byte>.Shared.AsArrayPool(), BufferPool<byte>.Shared.AsArrayPool());

    protected override ArrayPool<T> Pool<T>() => BufferPool<T>.Shared.AsArrayPool();

    protected override void Dispose(bool disposing)
    {
        BufferPool<byte>.Shared.Validate();
        BufferPool<byte>.Shared.Trim();
        base.Dispose(disposing);
    }
}

/// <summary>The suite over the runtime's shared pool: what we demand of ours holds for the model.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class RuntimeArrayPoolTests(ITestOutputHelper output) : ArrayPoolCompatibility(output)
{
    protected override bool IsOurs => false;

    protected override ArrayPool<T> Pool<T>() => ArrayPool<T>.Shared;
}
