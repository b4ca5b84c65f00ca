using System.Diagnostics;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Leases;

/// <summary>
/// A field that holds a lease, replaced by one thread while another uses it. The reader may get the one lease, the other, or a refusal.
/// With generation and length in two words it also got the buffer of the one with the length of the other, a few times in a million.
/// </summary>
public sealed class TearingTests : PoolTest
{
    private const int Short = 16;
    private const int Long = 4096;
    private const int Batch = 10_000;

    [Fact]
    public void A_span_of_a_field_is_never_longer_than_its_buffer() => ReadSpans(20_000_000, TimeSpan.FromSeconds(3));

    [Fact]
    [Trait("Category", "Slow")]
    public void A_span_of_a_field_is_never_longer_than_its_buffer_in_the_long_run() => ReadSpans(1_000_000_000, TimeSpan.FromSeconds(15));

    [Fact]
    public void A_field_that_two_threads_dispose_throws_nothing_and_leaves_no_magazine_busy() =>
        DisposeFields(1_000_000, TimeSpan.FromSeconds(3));

    [Fact]
    [Trait("Category", "Slow")]
    public void A_field_that_two_threads_dispose_throws_nothing_in_the_long_run() => DisposeFields(100_000_000, TimeSpan.FromSeconds(15));

    [Fact]
    public void A_writer_that_two_threads_use_hands_out_nothing_beyond_its_buffer()
    {
        // Each buffer is full of its own length, and nothing is ever written, so each span says how long it may be.
        BufferPool<int> pool = NewPool<int>(new() { Source = new LengthSource() });
        var writer = new PooledBufferWriter<int>(pool);
        Stopwatch watch = Stopwatch.StartNew();
        Threads.RunAll(2, me =>
        {
            for (int i = 0; i < 300_000 && watch.Elapsed.TotalSeconds < 3; i++)
            {
                try
                {
                    Span<int> span = writer.GetSpan((i & 1) == me ? Short : Long);
                    if (span.Length > span[0])
                    {
                        Assert.Fail($"{span.Length} elements of a buffer of {span[0]}");
                    }

                    if (me == 0)
                    {
                        writer.TryReset();
                    }
                }
                catch (Exception e) when (e is ObjectDisposedException or ArgumentOutOfRangeException or IndexOutOfRangeException)
                {
                    // One thread had taken the buffer from the other.
                }
            }
        });
        writer.Dispose();
        Forgive(pool, pool.GetStatistics().Leased); // of two buffers that were rented at once the writer has forgotten one
    }

    private void ReadSpans(long most, TimeSpan limit)
    {
        BufferPool<byte> pool = NewPool<byte>();
        using BufferLease<byte> small = pool.Rent(Short);
        using BufferLease<byte> large = pool.Rent(Long);
        small.Span.Fill(1);
        large.Span.Fill(2);
        var field = new Holder<byte> { Lease = small };
        bool isOver = false;
        long reads = 0;
        long beyond = 0;
        Stopwatch watch = Stopwatch.StartNew();
        Threads.RunAll(2, me =>
        {
            if (me == 0)
            {
                while (!Volatile.Read(ref isOver))
                {
                    Replace(field, small, large);
                }

                return;
            }

            while (reads < most && watch.Elapsed < limit)
            {
                beyond += ReadSome(field);
                reads += Batch;
            }

            Volatile.Write(ref isOver, true);
        });
        Assert.True(beyond == 0, $"{beyond} of {reads} spans were longer than their buffers");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Replace(Holder<byte> field, BufferLease<byte> small, BufferLease<byte> large)
    {
        for (int i = 0; i < Batch; i++)
        {
            field.Lease = small;
            field.Lease = large;
        }
    }

    /// <summary>Reads the field, and counts the spans that have the mark of the small buffer and not its length.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long ReadSome(Holder<byte> field)
    {
        long beyond = 0;
        for (int i = 0; i < Batch; i++)
        {
            try
            {
                Span<byte> span = field.Lease.Span;
                beyond += span.Length == Long && span[0] == 1 ? 1 : 0;
            }
            catch (ObjectDisposedException)
            {
                // The slot of one with the rest of the other.
            }
        }

        return beyond;
    }

    private void DisposeFields(int most, TimeSpan limit)
    {
        BufferPool<string> pool = NewPool<string>();
        var field = new Holder<string>();
        Stopwatch watch = Stopwatch.StartNew();
        Threads.RunAll(2, me =>
        {
            int length = me == 0 ? Short : Long;
            for (int i = 0; i < most && watch.Elapsed < limit; i++)
            {
                BufferLease<string> mine = pool.Rent(length);
                field.Lease = mine;
                field.Lease.Dispose();
                mine.Dispose(); // the other thread may have replaced it in the field
            }
        });

        // A magazine that a throw left busy would be invalid, and the thread that closes it would wait, and then all that rent.
        Threads.Run(() => pool.Rent(Long).Dispose());
        pool.Validate();
        Threads.Run(pool.Dispose);
        Threads.Run(() => NewPool<string>().Rent(Short).Dispose());
    }

    private sealed class Holder<T>
    {
        internal BufferLease<T> Lease;
    }

    private sealed class LengthSource : BufferSource<int>
    {
        public override BufferForm Form => BufferForm.WholeArray;

        public override SourceBuffer<int> Allocate(int length, int alignment)
        {
            int[] array = new int[length];
            Array.Fill(array, length);
            return new SourceBuffer<int>(array, 0, length);
        }

        public override void Free(in SourceBuffer<int> buffer)
        {
        }
    }
}
