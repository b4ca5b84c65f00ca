// Spans, memories, pointers and references into a rented buffer.
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Traps;

internal sealed class Views
{
    [Trap("the span is used before the return")]
    public static int SpanBefore(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        Span<byte> span = array.AsSpan(0, length);
        span.Clear();
        int sum = span[0];
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("the span gets another buffer after the return")]
    public static int SpanMoves(int length)
    {
        byte[] first = ArrayPool<byte>.Shared.Rent(length);
        Span<byte> span = first.AsSpan(0, length);
        int sum = span[0];
        ArrayPool<byte>.Shared.Return(first);
        byte[] second = ArrayPool<byte>.Shared.Rent(length);
        span = second.AsSpan(0, length);
        sum += span[0];
        ArrayPool<byte>.Shared.Return(second);
        return sum;
    }

    [Trap("the span is set to default after the return")]
    public static int SpanDefault(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        Span<byte> span = array.AsSpan(0, length);
        int sum = span[0];
        ArrayPool<byte>.Shared.Return(array);
        span = default;
        return sum + span.Length;
    }

    [Trap("a copy of the content outlives the buffer")]
    public static byte[] CopyOut(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        array.AsSpan(0, length).Fill(1);
        byte[] result = array.AsSpan(0, length).ToArray();
        ArrayPool<byte>.Shared.Return(array);
        result[0] = 2;
        return result;
    }

    [Trap("a copy of the content outlives the buffer")]
    public static string TextOut(ReadOnlySpan<byte> source)
    {
        char[] array = ArrayPool<char>.Shared.Rent(source.Length);
        int count = Encoding.UTF8.GetChars(source, array);
        string text = new(array, 0, count);
        ArrayPool<char>.Shared.Return(array);
        return text.Trim();
    }

    [Trap("a number taken from it outlives the buffer")]
    public static int NumbersOut(int length)
    {
        int[] array = ArrayPool<int>.Shared.Rent(length);
        int first = array[0];
        int capacity = array.Length;
        ArrayPool<int>.Shared.Return(array);
        return first + capacity;
    }

    [Trap("nameof and typeof do not use it")]
    public static string NameOnly(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        ArrayPool<byte>.Shared.Return(array);
        return nameof(array);
    }

    [Trap("compared with null after the return")]
    public static bool ComparedWithNull(int length)
    {
        byte[]? array = length > 0 ? ArrayPool<byte>.Shared.Rent(length) : null;
        if (array is not null)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return array is not null;
    }

    [Trap("memory marshal views end before the return")]
    public static int Marshalled(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length * sizeof(int));
        Span<int> numbers = MemoryMarshal.Cast<byte, int>(array.AsSpan(0, length * sizeof(int)));
        numbers.Clear();
        int sum = numbers[0] + MemoryMarshal.GetReference(numbers);
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("fixed inside the rental")]
    public static unsafe int Fixed(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = 0;
        fixed (byte* first = array)
        {
            for (int i = 0; i < length; i++)
            {
                sum += first[i];
            }
        }

        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("a ref local inside the rental")]
    public static int RefLocal(int length)
    {
        int[] array = ArrayPool<int>.Shared.Rent(length);
        ref int first = ref array[0];
        first = 7;
        int result = Unsafe.Add(ref first, 0);
        ArrayPool<int>.Shared.Return(array);
        return result;
    }

    [Trap("pinned until the handle is freed")]
    public static int Pinned(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        GCHandle handle = GCHandle.Alloc(array, GCHandleType.Pinned);
        int low = (int)handle.AddrOfPinnedObject() & 1;
        handle.Free();
        ArrayPool<byte>.Shared.Return(array);
        return low;
    }

    [Trap("an index from the end")]
    public static int FromEnd(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        array[^1] = 1;
        Span<byte> tail = array.AsSpan()[^2..];
        int sum = tail[1];
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("the null-forgiving operator")]
    public static int Forgiven(int length)
    {
        byte[]? array = length >= 0 ? ArrayPool<byte>.Shared.Rent(length) : null;
        int first = array![0];
        ArrayPool<byte>.Shared.Return(array!);
        return first;
    }

    [Trap("an alias of the local is returned")]
    public static int Alias(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        byte[] alias = array;
        int first = alias[0];
        ArrayPool<byte>.Shared.Return(alias);
        return first;
    }

    [Trap("a using alias names the pool")]
    public static int Named(int length)
    {
        ArrayPool<byte> pool = ArrayPool<byte>.Shared;
        byte[] array = pool.Rent(length);
        int first = array[0];
        pool.Return(array);
        return first;
    }

    [Trap("a generic element type")]
    public static T Generic<T>(int length)
    {
        T[] array = ArrayPool<T>.Shared.Rent(length);
        T first = array[0];
        ArrayPool<T>.Shared.Return(array, RuntimeHelpers.IsReferenceOrContainsReferences<T>());
        return first;
    }

    [Trap("named arguments in another order")]
    public static int NamedArguments(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(minimumLength: length);
        int first = array[0];
        ArrayPool<byte>.Shared.Return(clearArray: false, array: array);
        return first;
    }

    [Trap("a later argument is not what the result shows")]
    public static int LaterArgument(int length)
    {
        byte[] key = ArrayPool<byte>.Shared.Rent(length);
        key.AsSpan(0, length).Clear();
        ReadOnlySpan<byte> text = "key=value"u8;
        ReadOnlySpan<byte> rest = text.TrimStart(key.AsSpan(0, length));
        ArrayPool<byte>.Shared.Return(key);
        return rest.Length + rest[0];
    }

    [Trap("a wrapper keeps its argument")]
    public static void Synchronized(BufferPool<byte> pool)
    {
        var stream = new PooledMemoryStream();
        Stream guarded = Stream.Synchronized(stream);
        guarded.WriteByte(1);
        guarded.Dispose();
    }
}
