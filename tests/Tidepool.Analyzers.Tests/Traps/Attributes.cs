// What the code says about ownership.
using System.Diagnostics;

namespace Traps;

internal sealed class Attributes
{
    [Trap("TransfersOwnership on the parameter")]
    public static void Transferred(Sink sink, BufferPool<byte> pool, int length)
    {
        BufferLease<byte> lease = pool.Rent(length);
        sink.Take(lease);
    }

    [Trap("Borrowed parameter, returned afterwards")]
    public static int BorrowedThenReturned(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = Look(array, length);
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("Borrowed parameter, returned afterwards")]
    public static int BorrowedLease(BufferPool<byte> pool, int length)
    {
        BufferLease<byte> lease = pool.Rent(length);
        int sum = LookAt(lease);
        lease.Return();
        return sum;
    }

    [Trap("ReturnsRented makes the caller the owner, who returns it")]
    public static int Factory(int length)
    {
        byte[] array = Make(length);
        int sum = array[0];
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("ReturnsRented passes it on")]
    [ReturnsRented]
    public static byte[] FactoryOfFactory(int length)
    {
        byte[] array = Make(length);
        array[0] = 1;
        return array;
    }

    [Trap("MustReturn type in a using")]
    public static int MustReturnUsed(int length)
    {
        using var ticket = new Ticket(length);
        return ticket.Length;
    }

    [Trap("MustReturn type handed on")]
    public static Ticket MustReturnHandedOn(int length)
    {
        var ticket = new Ticket(length);
        return ticket;
    }

    [Trap("an attribute of another namespace")]
    public static void OtherNamespace(BufferPool<byte> pool, int length)
    {
        BufferLease<byte> lease = pool.Rent(length);
        Swallow(lease);
    }

    [Trap("a conditional method does not count as a use")]
    public static int ConditionalCheck(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = array[0];
        Check(array);
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Conditional("DEBUG")]
    private static void Check(byte[] array) => Debug.Assert(array.Length > 0);

    private static int Look([Borrowed] byte[] array, int length) => array[length - 1];

    private static int LookAt([Borrowed] BufferLease<byte> lease) => lease.Length;

    [ReturnsRented]
    private static byte[] Make(int length) => ArrayPool<byte>.Shared.Rent(length);

    private static void Swallow([Elsewhere.TransfersOwnership] BufferLease<byte> lease) => lease.Dispose();

    internal sealed class Sink
    {
        public void Take([TransfersOwnership] BufferLease<byte> lease) => lease.Dispose();
    }

    [MustReturn]
    internal sealed class Ticket(int length) : IDisposable
    {
        public int Length => length;

        public void Dispose() => GC.SuppressFinalize(this);
    }
}

internal static class Elsewhere
{
    [AttributeUsage(AttributeTargets.Parameter)]
    internal sealed class TransfersOwnershipAttribute : Attribute;
}
