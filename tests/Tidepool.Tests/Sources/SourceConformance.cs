using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Sources;

/// <summary>What every source of buffers must do. A new source derives from this and gives an instance.</summary>
/// <typeparam name="T">An element type without references.</typeparam>
public abstract class SourceConformance<T>(ITestOutputHelper output) : PoolTest
    where T : unmanaged
{
    protected abstract BufferSource<T> NewSource();

    public static TheoryData<int> Lengths => [1, 2, 15, 16, 17, 100, 4096, 65_536, 300_001];

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_buffer_has_exactly_the_length_that_was_asked(int length)
    {
        BufferSource<T> source = NewSource();
        SourceBuffer<T> buffer = source.Allocate(length, 0);
        Assert.Equal(length, buffer.Length);
        Assert.Equal(length, Elements(buffer).Length);
        source.Free(buffer);
    }

    [Fact]
    public void A_buffer_has_the_form_that_its_source_states()
    {
        BufferSource<T> source = NewSource();
        SourceBuffer<T> buffer = source.Allocate(100, 0);
        switch (source.Form)
        {
            case BufferForm.WholeArray:
                Assert.NotNull(buffer.Array);
                Assert.Equal(0, buffer.Offset);
                Assert.Equal(100, buffer.Array.Length);
                Assert.Equal(0, buffer.Address);
                break;
            case BufferForm.ArrayPart:
                Assert.NotNull(buffer.Array);
                Assert.InRange(buffer.Offset, 0, buffer.Array.Length - 100);
                Assert.Equal(0, buffer.Address);
                break;
            default:
                Assert.Null(buffer.Array);
                Assert.NotEqual(0, buffer.Address);
                break;
        }

        source.Free(buffer);
    }

    [Fact]
    public void Buffers_that_are_out_never_overlap()
    {
        BufferSource<T> source = NewSource();
        Random random = Seeds.New(output);
        List<(SourceBuffer<T> Buffer, int Mark)> live = [];
        for (int step = 0; step < 2000; step++)
        {
            if (live.Count > 0 && random.Next(5) < 2)
            {
                int index = random.Next(live.Count);
                (SourceBuffer<T> buffer, int mark) = live[index];
                AssertFilled(buffer, mark);
                live.RemoveAt(index);
                source.Free(buffer);
            }
            else
            {
                SourceBuffer<T> buffer = source.Allocate(random.Next(1, 3000), 0);
                Elements(buffer).Fill(Sample.Of<T>(step));
                live.Add((buffer, step));
            }
        }

        foreach ((SourceBuffer<T> buffer, int mark) in live)
        {
            AssertFilled(buffer, mark);
            source.Free(buffer);
        }
    }

    [Theory]
    [InlineData(8)]
    [InlineData(16)]
    [InlineData(64)]
    [InlineData(512)]
    [InlineData(4096)]
    public unsafe void An_aligned_buffer_begins_at_a_multiple_of_its_alignment(int alignment)
    {
        BufferSource<T> source = NewSource();
        if (alignment > source.MaxAlignment)
        {
            return;
        }

        List<SourceBuffer<T>> buffers = [];
        foreach (int length in (int[])[1, 7, 16, 100, 5000, 300_000])
        {
            for (int i = 0; i < 3; i++)
            {
                SourceBuffer<T> buffer = source.Allocate(length, alignment);
                Assert.Equal(length, buffer.Length);
                nint address = (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(Elements(buffer)));
                Assert.Equal(0, address % alignment);
                buffers.Add(buffer);
            }
        }

        buffers.ForEach(b => source.Free(b));
    }

    [Fact]
    public void Several_threads_may_make_and_free_buffers_at_the_same_time()
    {
        BufferSource<T> source = NewSource();
        Threads.RunAll(4, thread =>
        {
            Random random = new(thread);
            Queue<(SourceBuffer<T> Buffer, int Mark)> mine = new();
            for (int i = 0; i < 3000; i++)
            {
                int mark = (thread * 100_000) + i;
                SourceBuffer<T> buffer = source.Allocate(random.Next(1, 200), 0);
                Elements(buffer).Fill(Sample.Of<T>(mark));
                mine.Enqueue((buffer, mark));
                if (mine.Count > 20)
                {
                    (SourceBuffer<T> oldest, int written) = mine.Dequeue();
                    AssertFilled(oldest, written);
                    source.Free(oldest);
                }
            }

            foreach ((SourceBuffer<T> buffer, int mark) in mine)
            {
                AssertFilled(buffer, mark);
                source.Free(buffer);
            }
        });
    }

    [Fact]
    public void A_pool_over_the_source_rents_and_returns()
    {
        BufferPool<T> pool = NewPool<T>(new() { Name = "conformance", Source = NewSource() });
        for (int round = 0; round < 3; round++)
        {
            List<BufferLease<T>> leases = [];
            foreach (int length in (int[])[0, 1, 15, 16, 17, 1000, 4096, 100_000])
            {
                BufferLease<T> lease = pool.Rent(length);
                Assert.Equal(length, lease.Span.Length);
                lease.Span.Fill(Sample.Of<T>(length));
                leases.Add(lease);
            }

            foreach (BufferLease<T> lease in leases)
            {
                T expected = Sample.Of<T>(lease.Length);
                foreach (T element in lease.Span)
                {
                    if (!EqualityComparer<T>.Default.Equals(expected, element))
                    {
                        Assert.Equal(expected, element);
                    }
                }

                lease.Return();
            }
        }

        // Three rounds of eight; an epoch of the trimmer between two of them may take what is idle.
        Assert.InRange(pool.GetStatistics().Missed, 1, 16);
    }

    protected static unsafe Span<T> Elements(in SourceBuffer<T> buffer) =>
        buffer.Array is null ? new Span<T>((void*)buffer.Address, buffer.Length) : buffer.Array.AsSpan(buffer.Offset, buffer.Length);

    private static void AssertFilled(in SourceBuffer<T> buffer, int mark)
    {
        int strange = Elements(buffer).IndexOfAnyExcept(Sample.Of<T>(mark));
        Assert.True(strange < 0, $"Element {strange} of the buffer {mark} was overwritten.");
    }
}
