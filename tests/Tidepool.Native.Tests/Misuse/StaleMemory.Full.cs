using System.Buffers;

namespace Tidepool.Native.Tests.Misuse;

public sealed class StaleMemoryFull : NativeMisuseTest
{
    protected override PoolChecks Mode => PoolChecks.Full;

    [Fact]
    public void A_stale_memory_throws_for_ever()
    {
        using NativeMemoryPool<int> pool = new(checks: PoolChecks.Full);
        IMemoryOwner<int> owner = pool.Rent(100);
        Memory<int> stale = owner.Memory;
        owner.Dispose();
        for (int i = 0; i < 300; i++)
        {
            using IMemoryOwner<int> next = pool.Rent(100);
            Assert.NotSame(owner, next);
            Assert.NotEqual(stale, next.Memory);
            Assert.Throws<ObjectDisposedException>(() => stale.Span.Length);
        }
    }
}
