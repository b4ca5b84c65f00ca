using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Buffers;

/// <summary>One pool for every kind of element.</summary>
public abstract class ElementTypeTests<T> : PoolTest
{
    public static TheoryData<int> Lengths => [0, 1, 15, 16, 17, 100, 1000, 4097];

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_lease_has_the_length_asked_and_keeps_its_content(int length)
    {
        BufferPool<T> pool = NewPool<T>();
        using BufferLease<T> first = pool.Rent(length);
        using BufferLease<T> second = pool.Rent(length);
        T value = Sample.Of<T>(length);
        first.Span.Fill(value);
        second.Span.Clear();
        Assert.Equal(length, first.Span.Length);
        foreach (T element in first.Memory.Span)
        {
            Assert.Equal(value, element);
        }
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_scope_an_array_and_an_owner_hold_the_length_asked(int length)
    {
        BufferPool<T> pool = NewPool<T>();
        using (ArrayScope<T> scope = pool.RentScope(length))
        {
            Assert.Equal(length, scope.Span.Length);
            scope.Span.Fill(Sample.Of<T>(1));
        }

        T[] array = pool.AsArrayPool().Rent(length);
        Assert.True(array.Length >= length);
        Assert.Equal(typeof(T[]), array.GetType());
        pool.AsArrayPool().Return(array);
        using System.Buffers.IMemoryOwner<T> owner = pool.AsMemoryPool().Rent(length);
        Assert.True(owner.Memory.Length >= length);
    }

    [Fact]
    public void Statistics_count_bytes_of_the_element_size()
    {
        BufferPool<T> pool = NewPool<T>();
        BufferLease<T> lease = pool.Rent(1000);
        long bytes = (long)lease.Segment.Array!.Length * Unsafe.SizeOf<T>();
        Assert.Equal(bytes, pool.GetStatistics().BytesLeased);
        lease.Return();
        Assert.Equal(0, pool.GetStatistics().BytesLeased);
        Assert.Equal(bytes, pool.GetStatistics().BytesIdle);
    }

    [Fact]
    public void An_idle_buffer_of_elements_with_references_is_clear_at_once()
    {
        if (!RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            return;
        }

        BufferPool<T> pool = NewPool<T>();
        Action<BufferLease<T>>[] waysBack = [l => l.Return(), l => l.Dispose(), l => l.ToOwner().Dispose()];
        foreach (Action<BufferLease<T>> giveBack in waysBack)
        {
            BufferLease<T> lease = pool.Rent(100);
            T[] array = lease.Segment.Array!;
            lease.Span.Fill(Sample.Of<T>(1));
            giveBack(lease);
            Assert.True(Array.TrueForAll(array, element => EqualityComparer<T>.Default.Equals(element, default)));
        }
    }

    [Fact]
    public void A_buffer_of_elements_with_references_that_was_returned_on_another_thread_is_clear_after_an_epoch()
    {
        if (!RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            return;
        }

        // The return may lose against one of the renting thread, so it is that thread, or the trimmer, that clears.
        BufferPool<T> pool = NewPool<T>();
        BufferLease<T> lease = pool.Rent(100);
        T[] array = lease.Segment.Array!;
        lease.Span.Fill(Sample.Of<T>(1));
        Threads.Run(() => lease.Return());
        pool.Trim();
        Assert.True(Array.TrueForAll(array, element => EqualityComparer<T>.Default.Equals(element, default)));

        BufferLease<T> again = pool.Rent(100);
        again.Span.Fill(Sample.Of<T>(1));
        Threads.Run(() => again.Dispose());
        using BufferLease<T> next = pool.Rent(100);
        foreach (T element in next.Span)
        {
            Assert.Equal(default, element);
        }
    }

    [Fact]
    public void A_rental_of_elements_with_references_is_clear_when_it_is_rented()
    {
        if (!RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            return;
        }

        BufferPool<T> pool = NewPool<T>();
        for (int length = 100; length > 0; length -= 7)
        {
            using BufferLease<T> lease = pool.Rent(length);
            foreach (T element in lease.Span)
            {
                Assert.Equal(default, element);
            }

            lease.Span.Fill(Sample.Of<T>(length));
        }
    }
}

public sealed class ByteElementTests : ElementTypeTests<byte>;

public sealed class CharElementTests : ElementTypeTests<char>;

public sealed class IntElementTests : ElementTypeTests<int>;

public sealed class LongElementTests : ElementTypeTests<long>;

public sealed class GuidElementTests : ElementTypeTests<Guid>;

public sealed class DecimalElementTests : ElementTypeTests<decimal>;

public sealed class TripleElementTests : ElementTypeTests<Triple>;

public sealed class NamedElementTests : ElementTypeTests<Named>;

public sealed class StringElementTests : ElementTypeTests<string>;

public sealed class ObjectElementTests : ElementTypeTests<object>;
