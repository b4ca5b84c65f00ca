using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class StreamDisposedTwice
{
    [Fact]
    public void The_second_disposal_does_nothing()
    {
        var pool = new StrictArrayPool();
        var stream = new PooledMemoryStream(pool);
        stream.Write(new byte[10_000]);
        stream.Dispose();
        stream.Dispose();
        stream.Close();
        Assert.Equal(pool.Rented, pool.Returned);
    }

    [Fact]
    public void A_second_disposal_ends_no_other_stream_however_late_it_comes()
    {
        PooledMemoryStream twice = PooledMemoryStream.Rent();
        using (var writer = new StreamWriter(twice)) // closes it
        {
            writer.Write("text");
        }

        for (int i = 0; i < 100; i++)
        {
            using PooledMemoryStream other = PooledMemoryStream.Rent();
            other.WriteByte((byte)i);
            twice.Dispose();
            Assert.Equal([(byte)i], other.ToArray());
        }
    }

    [Fact]
    public void Racing_disposals_return_every_segment_once_and_the_core_to_one_renter()
    {
        var pool = new StrictArrayPool();
        for (int round = 0; round < 2000; round++)
        {
            var stream = new PooledMemoryStream(pool);
            stream.Write(new byte[3000]);
            PooledMemoryStream rented = PooledMemoryStream.Rent();
            rented.Write(new byte[2000]);
            if (round % 10 == 0)
            {
                Threads.RunAll(3, _ =>
                {
                    stream.Dispose();
                    rented.Dispose();
                });
            }
            else
            {
                Parallel.Invoke(stream.Dispose, rented.Dispose, stream.Dispose, rented.Dispose);
            }

            using PooledMemoryStream a = PooledMemoryStream.Rent();
            using var b = new PooledMemoryStream();
            a.Write([1]);
            b.Write([2]);
            Assert.Equal([1], a.ToArray()); // a core that went back twice would have two renters
            Assert.Equal([2], b.ToArray());
        }

        Assert.Equal(0, pool.Out);
        Assert.Equal(pool.Rented, pool.Returned);
    }
}
