using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class TargetOfACopyDisposesTheStream
{
    [Fact]
    public void The_copy_throws_and_every_segment_is_returned_once()
    {
        var pool = new StrictArrayPool();
        var stream = new PooledMemoryStream(pool);
        stream.Write(new byte[5_000_000]);
        stream.Position = 0;
        int writes = 0;
        using var target = new CallbackTarget(write =>
        {
            writes = write;
            stream.Dispose();
        });
        Assert.Throws<ObjectDisposedException>(() => stream.CopyTo(target));
        Assert.Equal(1, writes);
        Assert.Equal(0, pool.Out);
        Assert.Equal(pool.Rented, pool.Returned);
    }
}
