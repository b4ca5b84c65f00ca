using Tidepool.Tests.Support;

namespace Tidepool.Tests.Streams;

/// <summary>Lengths that no array has.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class LongStreamTests
{
    private const long Length = 3L << 30;

    [NeedsMemory(5L << 30)]
    [Trait("Category", "Slow")]
    public void A_stream_of_3_GiB_reads_back_what_was_written()
    {
        byte[] block = new byte[1 << 20];
        byte[] back = new byte[block.Length];
        using (var stream = new PooledMemoryStream())
        {
            for (long start = 0; start < Length; start += block.Length)
            {
                Fill(block, start);
                stream.Write(block);
            }

            Assert.Equal(Length, stream.Length);
            Assert.Equal(Length, stream.Position);
            Assert.Equal(int.MaxValue, stream.Capacity);
            Assert.True(stream.CapacityLong >= Length);
            Assert.Null(stream.FindFault());
            foreach (long place in new[] { 0, 1L << 30, int.MaxValue, (1L << 31) + 12_345, Length - 1 })
            {
                stream.Position = place;
                Assert.Equal(ValueAt(place), stream.ReadByte());
                Assert.Equal(place + 1, stream.Position);
            }

            stream.Position = 0;
            for (long start = 0; start < Length; start += block.Length)
            {
                Fill(block, start);
                stream.ReadExactly(back);
                Assert.True(block.AsSpan().SequenceEqual(back), $"Bytes from {start} on differ.");
            }

            Assert.Equal(Length, stream.GetReadOnlySequence().Length);
            Assert.Throws<IOException>(stream.ToArray);
            Assert.Throws<IOException>(stream.GetBuffer);
            Assert.Throws<IOException>(() => stream.Detach());
            Assert.Equal(Length, stream.Seek(0, SeekOrigin.End));
            stream.SetLength((1L << 31) + 5);
            Assert.Equal((1L << 31) + 5, stream.Position);
            stream.SetLength((1L << 31) + 10);
            stream.Position = (1L << 31) + 5;
            stream.ReadExactly(back.AsSpan(0, 5));
            Assert.Equal(new byte[5], back[..5]);
        }

        BufferPool<byte>.Shared.Trim();
    }

    [NeedsMemory(5L << 30)]
    [Trait("Category", "Slow")]
    public void With_full_checks_the_longest_buffer_of_all_is_taken_back()
    {
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Checks = PoolChecks.Full });
        pool.Rent(Array.MaxLength).Return();
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    private static byte ValueAt(long place) => (byte)((place >> 20) + place);

    private static void Fill(byte[] block, long start)
    {
        for (int i = 0; i < block.Length; i++)
        {
            block[i] = ValueAt(start + i);
        }
    }

    /// <summary>A test that is skipped, with the reason, where the memory is not there.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    private sealed class NeedsMemoryAttribute : FactAttribute
    {
        public NeedsMemoryAttribute(long bytes)
        {
            long there = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes;
            if (there < bytes)
            {
                Skip =
                    $"Needs {bytes >> 20} MiB of memory; the collector may use {there >> 20} MiB. Run it on a larger machine, or "
                        + "raise the container's limit.";
            }
        }
    }
}
