// A buffer that is replaced by a larger one.
namespace Traps;

internal sealed class Growth
{
    [Trap("grow: rent, copy, return the old one, assign")]
    public static int ReadAll(Stream stream, int start)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(start);
        int total = 0;
        int read;
        while ((read = stream.Read(buffer, total, buffer.Length - total)) > 0)
        {
            total += read;
            if (total == buffer.Length)
            {
                byte[] larger = ArrayPool<byte>.Shared.Rent(total + start);
                Buffer.BlockCopy(buffer, 0, larger, 0, total);
                ArrayPool<byte>.Shared.Return(buffer);
                buffer = larger;
            }
        }

        ArrayPool<byte>.Shared.Return(buffer);
        return total;
    }

    [Trap("grow: keep the old one in a second local")]
    public static int KeepsTheOld(int start, int steps)
    {
        char[] buffer = ArrayPool<char>.Shared.Rent(start);
        for (int i = 0; i < steps; i++)
        {
            char[] old = buffer;
            buffer = ArrayPool<char>.Shared.Rent(start + i);
            old.AsSpan(0, start).CopyTo(buffer);
            ArrayPool<char>.Shared.Return(old);
        }

        int first = buffer[0];
        ArrayPool<char>.Shared.Return(buffer);
        return first;
    }

    [Trap("grow: through a ref parameter")]
    public static void GrowInPlace(ref byte[] buffer, int used, int needed)
    {
        byte[] larger = ArrayPool<byte>.Shared.Rent(needed);
        buffer.AsSpan(0, used).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(buffer);
        buffer = larger;
    }

    [Trap("a method swaps the caller's buffer by ref")]
    public static int CallerOfGrow(int start, int needed)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(start);
        GrowInPlace(ref buffer, start, needed);
        int last = buffer[needed - 1];
        ArrayPool<byte>.Shared.Return(buffer);
        return last;
    }

    [Trap("a method swaps the caller's buffer by ref")]
    public static int ReturnsThenFillsByOut(int start)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(start);
        ArrayPool<byte>.Shared.Return(buffer);
        Make(out buffer, start);
        int first = buffer[0];
        ArrayPool<byte>.Shared.Return(buffer);
        return first;
    }

    private static void Make(out byte[] buffer, int length) => buffer = ArrayPool<byte>.Shared.Rent(length);

    [Trap("grow: the local starts as a stack span")]
    public static int StackThenPool(ReadOnlySpan<char> text)
    {
        Span<byte> space = stackalloc byte[64];
        byte[]? rented = null;
        int written;
        while (!Encoding.UTF8.TryGetBytes(text, space, out written))
        {
            byte[] larger = ArrayPool<byte>.Shared.Rent(space.Length + text.Length);
            if (rented is not null)
            {
                ArrayPool<byte>.Shared.Return(rented);
            }

            space = rented = larger;
        }

        int first = space[0] + written;
        if (rented is not null)
        {
            ArrayPool<byte>.Shared.Return(rented);
        }

        return first;
    }

    [Trap("two locals change places")]
    public static int Swap(int length, int rounds)
    {
        int[] front = ArrayPool<int>.Shared.Rent(length);
        int[] back = ArrayPool<int>.Shared.Rent(length);
        for (int i = 0; i < rounds; i++)
        {
            (front, back) = (back, front);
            front[0] = back[0] + 1;
        }

        int result = front[0];
        ArrayPool<int>.Shared.Return(front);
        ArrayPool<int>.Shared.Return(back);
        return result;
    }

    [Trap("two locals change places")]
    public static int SwapByThird(int length)
    {
        int[] a = ArrayPool<int>.Shared.Rent(length);
        int[] b = ArrayPool<int>.Shared.Rent(length);
        int[] t = a;
        a = b;
        b = t;
        int sum = a[0] + b[0];
        ArrayPool<int>.Shared.Return(a);
        ArrayPool<int>.Shared.Return(b);
        return sum;
    }

    [Trap("the returned local gets another array")]
    public static int Reassigned(int length, byte[] other)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = array[0];
        ArrayPool<byte>.Shared.Return(array);
        array = other;
        return sum + array[0];
    }

    [Trap("a length that grows without doubling")]
    public static int GrowsByConstant(int turns)
    {
        int size = 4096;
        int sum = 0;
        for (int i = 0; i < turns; i++)
        {
            byte[] array = ArrayPool<byte>.Shared.Rent(size);
            sum += array[size - 1];
            ArrayPool<byte>.Shared.Return(array);
            size += 4096;
        }

        return sum;
    }

    [Trap("a length that doubles below the large object heap")]
    public static int DoublesUpToSmall(int needed)
    {
        int size = 256;
        while (size < needed && size < 16_384)
        {
            size *= 2;
        }

        byte[] array = ArrayPool<byte>.Shared.Rent(size);
        int sum = array[size - 1];
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("a deconstruction writes its targets without reading them")]
    public static int Swapped(ArrayPool<byte> pool, int length)
    {
        int capacity = length;
        byte[] buffer = pool.Rent(capacity);
        buffer[0] = 1;
        pool.Return(buffer);
        (buffer, capacity) = (pool.Rent(2 * capacity), 2 * capacity);
        buffer[0] = 2;
        pool.Return(buffer);
        return capacity;
    }

    [Trap("an out argument beside a conditional one is replaced")]
    public static int Replaced(ArrayPool<byte> pool, int length)
    {
        byte[] buffer = pool.Rent(length);
        buffer[0] = 1;
        pool.Return(buffer);
        Write(out buffer, length > 16 ? length : 16);
        return buffer[0];
    }

    private static void Write(out byte[] array, int length) => array = new byte[length];
}
