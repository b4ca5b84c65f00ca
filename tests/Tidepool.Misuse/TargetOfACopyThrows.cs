using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class TargetOfACopyThrows
{
    [Fact]
    public async Task Every_segment_is_returned_once_and_the_stream_stays_usable()
    {
        var pool = new StrictArrayPool();
        using (var stream = new PooledMemoryStream(pool))
        {
            for (int i = 0; i < 100; i++)
            {
                stream.Write(new byte[10_000]);
            }

            for (int failing = 1; failing < 4; failing++)
            {
                using var target = new CallbackTarget(write =>
                {
                    if (write == failing)
                    {
                        throw new FormatException("The target is full.");
                    }
                });
                stream.Position = 0;
                Assert.Throws<FormatException>(() => stream.CopyTo(target));
                Assert.Equal(stream.Length, stream.Position); // as MemoryStream leaves it
                Assert.Throws<FormatException>(() => stream.WriteTo(new CallbackTarget(_ => throw new FormatException())));
                stream.Position = 0;
                await Assert.ThrowsAsync<FormatException>(() => stream.CopyToAsync(new CallbackTarget(_ => throw new FormatException())));
                Assert.Equal(1_000_000, stream.ToArray().Length);
            }
        }

        Assert.Equal(0, pool.Out);
        Assert.Equal(pool.Rented, pool.Returned);
    }
}
