using System.Runtime.CompilerServices;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class UseAfterReturnDefault() : MisuseTest(PoolChecks.Default)
{
    [Fact]
    public void Every_view_of_a_returned_lease_throws_and_the_use_is_counted()
    {
        BufferLease<int> lease = RentHere();
        lease.Return();
        ObjectDisposedException failure = Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
        Assert.Contains("after it was returned", failure.Message, StringComparison.Ordinal);
        Assert.Contains(Name, failure.Message, StringComparison.Ordinal);
        Assert.Throws<ObjectDisposedException>(() => lease.Memory);
        Assert.Throws<ObjectDisposedException>(() => lease.Segment);
        Assert.Equal(3, Count(MisuseKind.UseAfterReturn));
    }

    [Fact]
    public void A_returned_lease_cannot_be_moved_or_detached()
    {
        BufferLease<int> lease = RentHere();
        lease.Return();
        Assert.Throws<ObjectDisposedException>(() => lease.ToOwner());
        Assert.Throws<ObjectDisposedException>(() => lease.Detach());
        AssertNoTwoRenters();
    }

    [Fact]
    public void A_lease_that_was_returned_on_another_thread_throws_at_once()
    {
        BufferLease<int> lease = RentHere();
        Threads.Run(() => lease.Return());
        Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
        Assert.Throws<ObjectDisposedException>(() => Threads.Run(() => lease.Span.Length));
    }

    [Fact]
    public void A_returned_lease_throws_while_its_buffer_is_leased_to_someone_else()
    {
        BufferLease<int> lease = RentHere();
        lease.Return();
        using BufferLease<int> current = Pool.Rent(100);
        Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
        Assert.Equal(100, current.Span.Length);
    }

    [Fact]
    public void Memory_that_was_taken_before_the_return_is_not_noticed()
    {
        BufferLease<int> lease = RentHere();
        Memory<int> memory = lease.Memory;
        lease.Return();
        Assert.Equal(100, memory.Span.Length);
        Assert.Equal(0, Pool.GetStatistics().Misuses);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BufferLease<int> RentHere() => Pool.Rent(100);
}
