using System.Buffers;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

/// <summary>A lease is returned twice. The second return is what the mode makes of it; nothing else happens in any mode.</summary>
public abstract class DoubleReturn(PoolChecks mode) : MisuseTest(mode)
{
    /// <summary>Returns a lease again while another renter has its buffer.</summary>
    protected void ReturnWhatSomeoneElseHasRented(Action<Action> second)
    {
        ArgumentNullException.ThrowIfNull(second);
        BufferLease<int> old = Pool.Rent(100);
        old.Return();
        using BufferLease<int> current = Pool.Rent(100);
        current.Span.Fill(77);
        second(() => old.Return());
        second(() => Threads.Run(() => old.Return()));
        Assert.True(current.IsActive);
        AssertNoTwoRenters();
        Assert.Equal(-1, current.Span.IndexOfAnyExcept(77));
    }

    protected void DisposeAnOwnerTwice()
    {
        IMemoryOwner<int> owner = Pool.Rent(100).ToOwner();
        owner.Dispose();
        owner.Dispose();
        Threads.Run(() => owner.Dispose());
        AssertNoTwoRenters();
    }
}
