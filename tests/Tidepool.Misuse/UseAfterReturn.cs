using System.Runtime.CompilerServices;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

/// <summary>A lease is used after its return, which throws in every mode; what a view does that was taken before is the mode's.</summary>
public abstract class UseAfterReturn(PoolChecks mode, bool stacks = false) : MisuseTest(mode, stacks)
{
    /// <summary>Takes each view of a returned lease.</summary>
    /// <returns>What the first one said.</returns>
    protected string TakeEveryView()
    {
        BufferLease<int> lease = RentHere();
        lease.Return();
        ObjectDisposedException failure = Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
        Assert.Contains("after it was returned", failure.Message, StringComparison.Ordinal);
        Assert.Contains(Name, failure.Message, StringComparison.Ordinal);
        Assert.Throws<ObjectDisposedException>(() => lease.Memory);
        Assert.Throws<ObjectDisposedException>(() => lease.Segment);
        Assert.Equal(3, Count(MisuseKind.UseAfterReturn));
        return failure.Message;
    }

    protected void MoveAndDetach()
    {
        BufferLease<int> lease = RentHere();
        lease.Return();
        Assert.Throws<ObjectDisposedException>(() => lease.ToOwner());
        Assert.Throws<ObjectDisposedException>(() => lease.Detach());
        AssertNoTwoRenters();
    }

    protected void UseWhatAnotherThreadReturned()
    {
        BufferLease<int> lease = RentHere();
        Threads.Run(() => lease.Return());
        Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
        Assert.Throws<ObjectDisposedException>(() => Threads.Run(() => lease.Span.Length));
    }

    protected void UseWhatSomeoneElseHasRented()
    {
        BufferLease<int> lease = RentHere();
        lease.Return();
        using BufferLease<int> current = Pool.Rent(100);
        Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
        Assert.Equal(100, current.Span.Length);
    }

    /// <summary>Takes the memory of a lease, which is then returned.</summary>
    protected Memory<int> TakeMemoryAndReturn()
    {
        BufferLease<int> lease = RentHere();
        Memory<int> memory = lease.Memory;
        memory.Span.Fill(1);
        lease.Return();
        return memory;
    }

    /// <summary>The place of the rentals.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    protected BufferLease<int> RentHere() => Pool.Rent(100);
}
