using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class TargetOfACopyShortensTheStream
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_copy_throws_and_every_segment_is_returned_once(bool asynchronous)
    {
        var pool = new StrictArrayPool();
        using (var stream = new PooledMemoryStream(pool))
        {
            stream.Write(new byte[5_000_000]);
            stream.Position = 0;
            int writes = 0;
            using var target = new CallbackTarget(write =>
            {
                writes = write;
                stream.SetLength(10);
                stream.Capacity = 10; // returns what lies behind
            });
            InvalidOperationException thrown = asynchronous
                ? await Assert.ThrowsAsync<InvalidOperationException>(() => stream.CopyToAsync(target))
                : Assert.Throws<InvalidOperationException>(() => stream.CopyTo(target));
            Assert.Contains("10 bytes", thrown.Message, StringComparison.Ordinal);
            Assert.Equal(1, writes);
            Assert.Equal(10, stream.Length);
            stream.Write(new byte[100]);
            Assert.Equal(110, stream.Length);
        }

        Assert.Equal(0, pool.Out);
        Assert.Equal(pool.Rented, pool.Returned);
    }
}
