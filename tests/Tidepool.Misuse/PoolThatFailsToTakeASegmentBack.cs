using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class PoolThatFailsToTakeASegmentBack
{
    [Fact]
    public void The_others_are_returned_once_the_failure_is_thrown_and_the_core_serves_on()
    {
        var pool = new StrictArrayPool { FailingReturn = 2 };
        var stream = new PooledMemoryStream(pool);
        for (int i = 0; i < 50; i++)
        {
            stream.Write(new byte[10_000]);
        }

        InvalidOperationException thrown = Assert.Throws<InvalidOperationException>(stream.Dispose);
        Assert.IsType<FormatException>(thrown.InnerException);
        Assert.Equal(0, pool.Out);
        Assert.Equal(pool.Rented, pool.Returned);
        stream.Dispose();
        Assert.Equal(pool.Rented, pool.Returned);
        using var next = new PooledMemoryStream();
        next.Write([1, 2]);
        Assert.Equal([1, 2], next.ToArray());
    }
}
