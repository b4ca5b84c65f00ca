// The buffer gets another owner, who returns it.
using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace Traps;

internal sealed class Handover
{
    private readonly Queue<byte[]> _queue = new();
    private readonly Dictionary<string, byte[]> _byName = [];
    private byte[]? _kept;

    [Trap("returned to the caller")]
    public static byte[] ToCaller(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        array[0] = 1;
        return array;
    }

    [Trap("returned to the caller")]
    public static byte[] Direct(int length) => ArrayPool<byte>.Shared.Rent(length);

    [Trap("returned to the caller in a segment")]
    public static ArraySegment<byte> AsSegment(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        array[0] = 2;
        return new ArraySegment<byte>(array, 0, length);
    }

    [Trap("returned to the caller as memory")]
    public static Memory<byte> AsMemory(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        return array.AsMemory(0, length);
    }

    [Trap("returned to the caller in a tuple")]
    public static (byte[] Array, int Length) InTuple(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        return (array, length);
    }

    [Trap("tuple and deconstruction")]
    public static int Deconstructed(int length)
    {
        (byte[] array, int size) = (ArrayPool<byte>.Shared.Rent(length), length);
        int sum = array[size - 1];
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("tuple and deconstruction")]
    public static int DeconstructedCall(int length)
    {
        var (array, size) = InTuple(length);
        int sum = array[size - 1];
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("out parameter")]
    public static bool TryRead(Stream stream, int length, [NotNullWhen(true)] out byte[]? array)
    {
        byte[] rented = ArrayPool<byte>.Shared.Rent(length);
        if (stream.Read(rented, 0, length) == length)
        {
            array = rented;
            return true;
        }

        ArrayPool<byte>.Shared.Return(rented);
        array = null;
        return false;
    }

    [Trap("out parameter")]
    public static void RentInto(out char[] array, int length) => array = ArrayPool<char>.Shared.Rent(length);

    [Trap("into a field")]
    public void Keep(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        array[0] = 3;
        _kept = array;
    }

    [Trap("into a field")]
    public void KeepIfNone(int length) => _kept ??= ArrayPool<byte>.Shared.Rent(length);

    [Trap("into a collection")]
    public void Enqueue(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        array[0] = 4;
        _queue.Enqueue(array);
    }

    [Trap("into a collection")]
    public void ByName(string name, int length) => _byName[name] = ArrayPool<byte>.Shared.Rent(length);

    [Trap("into a collection")]
    public static void Many(int count, int length)
    {
        var all = new List<byte[]>();
        for (int i = 0; i < count; i++)
        {
            all.Add(ArrayPool<byte>.Shared.Rent(length));
        }

        foreach (byte[] one in all)
        {
            ArrayPool<byte>.Shared.Return(one);
        }
    }

    [Trap("into an element of an array")]
    public static void Jagged(int count, int length)
    {
        byte[][] rows = new byte[count][];
        for (int i = 0; i < count; i++)
        {
            rows[i] = ArrayPool<byte>.Shared.Rent(length);
        }

        for (int i = 0; i < count; i++)
        {
            ArrayPool<byte>.Shared.Return(rows[i]);
        }
    }

    [Trap("into a constructor")]
    public static Frame IntoConstructor(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        array[0] = 5;
        return new Frame(array, length);
    }

    [Trap("into a constructor")]
    public static int WrapperDisposes(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        using var frame = new Frame(array, length);
        return frame.Length;
    }

    [Trap("into an object initializer")]
    public static Message IntoInitializer(int length) => new() { Body = ArrayPool<byte>.Shared.Rent(length), Length = length };

    [Trap("into a property of another object")]
    public static void IntoProperty(Message message, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        array[0] = 6;
        message.Body = array;
        message.Length = length;
    }

    [Trap("into a struct that is returned")]
    public static Slice IntoStruct(int length)
    {
        Slice slice = default;
        slice.Array = ArrayPool<byte>.Shared.Rent(length);
        slice.Length = length;
        return slice;
    }

    [Trap("a record is copied with another buffer")]
    public static Parcel WithExpression(Parcel parcel, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        return parcel with { Body = array };
    }

    [Trap("to a method that returns it")]
    public static int HelperReturns(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = array[0];
        GiveBack(array);
        return sum;
    }

    private static void GiveBack(byte[] array) => ArrayPool<byte>.Shared.Return(array);

    [Trap("to a method that returns it")]
    public int Extension(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = array[0];
        array.ReturnToPool();
        return sum;
    }

    [Trap("to a delegate")]
    public static void ToDelegate(Action<byte[], int> consume, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        consume(array, length);
    }

    [Trap("to the state of another thread")]
    public static void ToThreadPool(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        ThreadPool.QueueUserWorkItem(static state => ArrayPool<byte>.Shared.Return((byte[])state!), array);
    }

    [Trap("as object and back")]
    public static void AsObject(int length)
    {
        object boxed = ArrayPool<byte>.Shared.Rent(length);
        ArrayPool<byte>.Shared.Return((byte[])boxed);
    }

    [Trap("found again through its memory")]
    public static void ThroughMemory(int length)
    {
        ReadOnlyMemory<byte> memory = ArrayPool<byte>.Shared.Rent(length);
        if (MemoryMarshal.TryGetArray(memory, out ArraySegment<byte> segment))
        {
            ArrayPool<byte>.Shared.Return(segment.Array!);
        }
    }

    [Trap("found again through its segment")]
    public static void ThroughSegment(int length)
    {
        var segment = new ArraySegment<byte>(ArrayPool<byte>.Shared.Rent(length), 0, length);
        ArrayPool<byte>.Shared.Return(segment.Array!);
    }

    [Trap("a queue of returned buffers, each another one")]
    public static void Drain(Queue<byte[]> waiting)
    {
        while (waiting.TryDequeue(out byte[]? array))
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    [Trap("a parameter is not this method's to judge")]
    public static void ReturnsParameter(byte[] array, bool pooled)
    {
        if (pooled)
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    internal sealed class Frame(byte[] array, int length) : IDisposable
    {
        private byte[]? _array = array;

        public int Length => length;

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _array, null) is { } taken)
            {
                ArrayPool<byte>.Shared.Return(taken);
            }
        }
    }

    internal sealed class Message
    {
        public byte[] Body { get; set; } = [];

        public int Length { get; set; }
    }

    internal struct Slice
    {
        public byte[] Array;
        public int Length;
    }

    internal sealed record Parcel(byte[] Body, int Length);
}

internal static class Returning
{
    public static void ReturnToPool(this byte[] array) => ArrayPool<byte>.Shared.Return(array);
}
