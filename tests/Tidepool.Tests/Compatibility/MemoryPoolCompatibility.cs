using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Compatibility;

/// <summary>What a program may rely on from a <see cref="MemoryPool{T}"/>, over any pool that passes for one.</summary>
public abstract class MemoryPoolCompatibility(ITestOutputHelper output) : PoolTest
{
    protected abstract MemoryPool<int> Pool { get; }

    /// <summary>Whether memory begins at the first element of its array (slabs and aligned blocks do not).</summary>
    protected virtual bool BeginsAtTheArray => true;

    /// <summary>Whether memory is of an array at all (native memory is not).</summary>
    protected virtual bool HasArrays => true;

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(10)]
    [InlineData(16)]
    [InlineData(17)]
    [InlineData(1000)]
    public void Memory_is_at_least_as_long_as_asked(int length)
    {
        using IMemoryOwner<int> owner = Pool.Rent(length);
        Assert.True(owner.Memory.Length >= length);
        Assert.Equal(owner.Memory.Length, owner.Memory.Span.Length);
        owner.Memory.Span.Fill(7);
        Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept(7));
    }

    [Fact]
    public void The_default_size_is_at_least_one_element()
    {
        using IMemoryOwner<int> first = Pool.Rent();
        using IMemoryOwner<int> second = Pool.Rent(-1);
        Assert.True(first.Memory.Length >= 1);
        Assert.Equal(first.Memory.Length, second.Memory.Length);
    }

    [Theory]
    [InlineData(-2)]
    [InlineData(int.MinValue)]
    [InlineData(int.MaxValue)]
    public void A_size_out_of_range_is_refused(int size) => Assert.Throws<ArgumentOutOfRangeException>(() => Pool.Rent(size));

    [Fact]
    public void A_size_above_the_largest_is_refused()
    {
        Assert.True(Pool.MaxBufferSize > 0);
        Assert.Throws<ArgumentOutOfRangeException>(() => Pool.Rent(unchecked(Pool.MaxBufferSize + 1)));
    }

    [Fact]
    public void Memory_is_the_same_at_every_reading()
    {
        using IMemoryOwner<int> owner = Pool.Rent(10);
        Assert.Equal(owner.Memory, owner.Memory);
    }

    [Fact]
    public unsafe void Memory_is_an_array_that_begins_where_the_span_does()
    {
        using IMemoryOwner<int> owner = Pool.Rent(42);
        Memory<int> memory = owner.Memory;
        Assert.Equal(HasArrays, MemoryMarshal.TryGetArray(memory, out ArraySegment<int> segment));
        if (!HasArrays)
        {
            return;
        }

        Assert.Equal(memory.Length, segment.Count);
        Assert.True(Unsafe.AreSame(ref MemoryMarshal.GetReference(memory.Span), ref segment.Array![segment.Offset]));
        if (BeginsAtTheArray)
        {
            fixed (int* array = segment.Array)
            {
                Assert.Equal((nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(memory.Span)), (nint)array);
            }
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    [InlineData(10)]
    public unsafe void A_pin_points_to_the_element_it_is_taken_at(int index)
    {
        using IMemoryOwner<int> owner = Pool.Rent(10);
        using MemoryHandle pin = owner.Memory[index..].Pin();
        Assert.Equal((nint)Unsafe.AsPointer(ref Unsafe.Add(ref MemoryMarshal.GetReference(owner.Memory.Span), index)), (nint)pin.Pointer);
    }

    [Fact]
    public unsafe void A_pin_may_be_taken_at_the_end()
    {
        using IMemoryOwner<int> owner = Pool.Rent(10);
        Memory<int> memory = owner.Memory;
        using MemoryHandle pin = memory[memory.Length..].Pin();
        Assert.Equal((nint)Unsafe.AsPointer(ref Unsafe.Add(ref MemoryMarshal.GetReference(memory.Span), memory.Length)), (nint)pin.Pointer);
    }

    [Fact]
    public void A_slice_outside_the_memory_is_refused()
    {
        using IMemoryOwner<int> owner = Pool.Rent(10);
        Memory<int> memory = owner.Memory;
        Assert.Throws<ArgumentOutOfRangeException>(() => memory.Slice(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => memory.Slice(int.MinValue));
        Assert.Throws<ArgumentOutOfRangeException>(() => memory.Slice(memory.Length + 1));
    }

    [Fact]
    public unsafe void Rentals_that_are_out_are_all_different_memory()
    {
        Random random = Seeds.New(output);
        int longest = Math.Min(1000, Pool.MaxBufferSize);
        List<IMemoryOwner<int>> owners = [.. Enumerable.Range(0, 200).Select(_ => Pool.Rent(random.Next(1, longest)))];
        for (int i = 0; i < owners.Count; i++)
        {
            owners[i].Memory.Span.Fill(i);
        }

        HashSet<nint> addresses = [];
        for (int i = 0; i < owners.Count; i++)
        {
            Assert.Equal(-1, owners[i].Memory.Span.IndexOfAnyExcept(i));
        }

        List<MemoryHandle> pins = [.. owners.Select(o => o.Memory.Pin())];
        Assert.All(pins, pin => Assert.True(addresses.Add((nint)pin.Pointer)));
        pins.ForEach(p => p.Dispose());
        owners.ForEach(o => o.Dispose());
    }

    [Fact]
    public void A_second_Dispose_of_an_owner_is_ignored()
    {
        IMemoryOwner<int> owner = Pool.Rent(42);
        owner.Dispose();
        owner.Dispose();
        using IMemoryOwner<int> first = Pool.Rent(42);
        using IMemoryOwner<int> second = Pool.Rent(42);
        first.Memory.Span.Fill(1);
        second.Memory.Span.Fill(2);
        Assert.Equal(-1, first.Memory.Span.IndexOfAnyExcept(1));
    }

    [Fact]
    public void There_is_no_memory_after_Dispose()
    {
        IMemoryOwner<int> owner = Pool.Rent(42);
        owner.Dispose();
        Assert.Throws<ObjectDisposedException>(() => owner.Memory);
    }

    [Fact]
    public void Two_racing_disposals_of_one_owner_return_its_memory_once()
    {
        for (int round = 0; round < 200; round++)
        {
            IMemoryOwner<int> owner = Pool.Rent(42);
            Threads.RunAll(2, _ => owner.Dispose());
            using IMemoryOwner<int> first = Pool.Rent(42);
            using IMemoryOwner<int> second = Pool.Rent(42);
            using IMemoryOwner<int> third = Pool.Rent(42);
            first.Memory.Span.Fill(1);
            second.Memory.Span.Fill(2);
            third.Memory.Span.Fill(3);
            Assert.Equal(1, first.Memory.Span[0]);
            Assert.Equal(2, second.Memory.Span[0]);
        }
    }

    [Fact]
    public void An_owner_may_be_disposed_on_another_thread()
    {
        for (int round = 0; round < 3; round++)
        {
            IMemoryOwner<int>[] owners = [.. Enumerable.Range(0, 100).Select(_ => Pool.Rent(42))];
            for (int i = 0; i < owners.Length; i++)
            {
                owners[i].Memory.Span.Fill(i);
            }

            Threads.Run(() =>
            {
                for (int i = 0; i < owners.Length; i++)
                {
                    Assert.Equal(-1, owners[i].Memory.Span.IndexOfAnyExcept(i));
                    owners[i].Dispose();
                }
            });
        }
    }

    [Fact]
    public void Many_threads_rent_and_dispose_at_the_same_time()
    {
        Threads.RunAll(4, thread =>
        {
            for (int i = 0; i < 5000; i++)
            {
                using IMemoryOwner<int> owner = Pool.Rent(1 + (i % Math.Min(500, Pool.MaxBufferSize)));
                owner.Memory.Span.Fill(thread);
                if (owner.Memory.Span.IndexOfAnyExcept(thread) >= 0)
                {
                    Assert.Fail("The memory is not this thread's alone.");
                }
            }
        });
    }
}
