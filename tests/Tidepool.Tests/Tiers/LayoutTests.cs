using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

/// <summary>What one thread writes shares no cache line with what others read or write all the time.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class LayoutTests : PoolTest
{
    private const int CacheLineBytes = 64;

    [Fact]
    public void The_ends_of_an_inbox_lie_apart_from_each_other_and_from_what_both_sides_read()
    {
        var inbox = new Inbox(limit: 16, wide: 16);
        ref byte tail = ref Unsafe.As<int, byte>(ref TailOf(inbox).Value);
        ref byte head = ref Unsafe.As<int, byte>(ref HeadOf(inbox).Value);
        AssertApart(ref tail, ref head);
        AssertApart(ref tail, ref Unsafe.As<int, byte>(ref PlacesOf(inbox)));
        AssertApart(ref head, ref Unsafe.As<int, byte>(ref PlacesOf(inbox)));
        AssertApart(ref tail, ref Unsafe.As<Slot?, byte>(ref StackOf(inbox)));
        AssertApart(ref head, ref Unsafe.As<Slot?, byte>(ref StackOf(inbox)));
    }

    [Fact]
    public void What_posters_read_of_a_magazine_lies_apart_from_what_its_owner_writes()
    {
        BufferPool<byte> pool = NewPool<byte>();
        Magazine magazine = ThreadTier.FindSlow(pool.Core.FindBucket(1000)!)!;
        ref byte written = ref Unsafe.As<Magazine.State, byte>(ref StateOf(magazine));
        AssertApart(ref Unsafe.As<bool, byte>(ref IsClosedOf(magazine)), ref written);
        AssertApart(ref Unsafe.As<Bucket, byte>(ref Unsafe.AsRef(in magazine.Bucket)), ref written);
        AssertApart(ref Unsafe.As<Inbox, byte>(ref Unsafe.AsRef(in magazine.Inbox)), ref written);
        AssertApart(ref Unsafe.As<StackIdentity, byte>(ref Unsafe.AsRef(in magazine.Owner)), ref written);
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_tail")]
    private static extern ref PaddedInt TailOf(Inbox inbox);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_head")]
    private static extern ref PaddedInt HeadOf(Inbox inbox);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_places")]
    private static extern ref int PlacesOf(Inbox inbox);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_stack")]
    private static extern ref Slot? StackOf(Inbox inbox);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_isClosed")]
    private static extern ref bool IsClosedOf(Magazine magazine);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_state")]
    private static extern ref Magazine.State StateOf(Magazine magazine);

    private static void AssertApart(ref byte one, ref byte other) =>
        Assert.True(Math.Abs(Unsafe.ByteOffset(ref one, ref other)) >= CacheLineBytes);
}
