// The rented array is longer than what was asked for; these know it.
using System.Security.Cryptography;

namespace Traps;

internal sealed class Lengths
{
    [Trap("the length of the array is its capacity")]
    public static int Capacity(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int read = stream.Read(array, 0, array.Length);
        ArrayPool<byte>.Shared.Return(array);
        return read;
    }

    [Trap("a read may fill more than was asked for")]
    public static int WholeRead(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int read = stream.Read(array);
        ArrayPool<byte>.Shared.Return(array);
        return read;
    }

    [Trap("a read may fill more than was asked for")]
    public static async Task<int> WholeReadAsync(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int read = await stream.ReadAsync(array);
        ArrayPool<byte>.Shared.Return(array);
        return read;
    }

    [Trap("a target that may be longer")]
    public static int Target(ReadOnlySpan<char> text)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(Encoding.UTF8.GetMaxByteCount(text.Length));
        int count = Encoding.UTF8.GetBytes(text, array);
        ArrayPool<byte>.Shared.Return(array);
        return count;
    }

    [Trap("a target that may be longer")]
    public static int CopyTarget(ReadOnlySpan<byte> source)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(source.Length);
        source.CopyTo(array);
        int first = array[0];
        ArrayPool<byte>.Shared.Return(array);
        return first;
    }

    [Trap("offset and count are passed")]
    public static void Counted(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        stream.Write(array, 0, length);
        ArrayPool<byte>.Shared.Return(array);
    }

    [Trap("the whole array is cleared")]
    public static int Cleared(int length)
    {
        int[] array = ArrayPool<int>.Shared.Rent(length);
        Array.Clear(array);
        int first = array[0];
        ArrayPool<int>.Shared.Return(array);
        return first;
    }

    [Trap("the whole array is filled")]
    public static int Filled(int length)
    {
        int[] array = ArrayPool<int>.Shared.Rent(length);
        Array.Fill(array, -1);
        array.AsSpan().Fill(-1);
        int first = array[length - 1];
        ArrayPool<int>.Shared.Return(array);
        return first;
    }

    [Trap("a hash table as long as the array")]
    public static int Buckets(int[] keys)
    {
        int[] buckets = ArrayPool<int>.Shared.Rent(keys.Length);
        Array.Clear(buckets);
        foreach (int key in keys)
        {
            buckets[(uint)key % (uint)buckets.Length]++;
        }

        int first = buckets[0];
        ArrayPool<int>.Shared.Return(buckets);
        return first;
    }

    [Trap("a bounds check against the array")]
    public static int BoundsChecked(int length, int[] source)
    {
        int[] array = ArrayPool<int>.Shared.Rent(length);
        int used = 0;
        foreach (int one in source)
        {
            if (used < array.Length)
            {
                array[used++] = one;
            }
        }

        int last = used == 0 ? 0 : array[used - 1];
        ArrayPool<int>.Shared.Return(array);
        return last;
    }

    [Trap("sorted with index and length")]
    public static int Sorted(int[] source)
    {
        int[] array = ArrayPool<int>.Shared.Rent(source.Length);
        source.CopyTo(array, 0);
        Array.Sort(array, 0, source.Length);
        int smallest = array[0];
        ArrayPool<int>.Shared.Return(array);
        return smallest;
    }

    [Trap("sliced before it is used")]
    public static byte[] Sliced(ReadOnlySpan<byte> data)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(data.Length);
        data.CopyTo(array);
        byte[] hash = SHA256.HashData(array.AsSpan(0, data.Length));
        ArrayPool<byte>.Shared.Return(array);
        return hash;
    }

    [Trap("sliced before it is used")]
    public static void RangeSlice(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        Span<byte> space = array;
        space = space[..length];
        space.Clear();
        stream.Write(space);
        ArrayPool<byte>.Shared.Return(array);
    }

    [Trap("a lease has exactly what was asked for")]
    public static void LeaseIsExact(BufferPool<byte> pool, Stream stream, int length)
    {
        using BufferLease<byte> lease = pool.Rent(length);
        lease.Span.Clear();
        stream.Write(lease.Span);
        foreach (byte one in lease.Span)
        {
            stream.WriteByte(one);
        }
    }

    [Trap("random bytes for the whole array")]
    public static int RandomBytes(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        RandomNumberGenerator.Fill(array);
        int first = array[0];
        ArrayPool<byte>.Shared.Return(array);
        return first;
    }

    [Trap("a constant that is worth a rent")]
    public static int LargeConstant(Stream stream)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(65_536);
        int read = stream.Read(array, 0, 65_536);
        ArrayPool<byte>.Shared.Return(array);
        return read;
    }

    [Trap("a small constant that crosses an await")]
    public static async Task<int> SmallAcrossAwait(Stream stream)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(16);
        int read = await stream.ReadAsync(array.AsMemory(0, 16));
        ArrayPool<byte>.Shared.Return(array);
        return read;
    }

    [Trap("a small constant of references")]
    public static int SmallOfReferences(string text)
    {
        string[] array = ArrayPool<string>.Shared.Rent(8);
        array[0] = text;
        int length = array[0].Length;
        ArrayPool<string>.Shared.Return(array, clearArray: true);
        return length;
    }

    [Trap("a small constant that is handed on")]
    public static byte[] SmallHandedOn()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(32);
        array[0] = 1;
        return array;
    }

    [Trap("a loop that leaves before the end")]
    public static int SearchedUntil(Stream source, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        source.ReadExactly(array, 0, length);
        int count = 0;
        foreach (byte one in array)
        {
            if (count == length)
            {
                break;
            }

            count += one;
        }

        ArrayPool<byte>.Shared.Return(array);
        return count;
    }

    [Trap("only the first element is asked for")]
    public static int OnlyFirst(Stream source, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        source.ReadExactly(array, 0, length);
        int first = array.First() + array.FirstOrDefault();
        ArrayPool<byte>.Shared.Return(array);
        return first;
    }

    [Trap("no stackalloc in catch or finally")]
    public static void TinyInHandler(Stream target)
    {
        try
        {
            target.Flush();
        }
        finally
        {
            byte[] array = ArrayPool<byte>.Shared.Rent(16);
            array.AsSpan(0, 16).Clear();
            target.Write(array, 0, 16);
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    [Trap("a task reads the small array")]
    public static void TinyForTask(Stream target)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(16);
        array.AsSpan(0, 16).Clear();
        target.WriteAsync(array, 0, 16).Wait();
        ArrayPool<byte>.Shared.Return(array);
    }

    [Trap("a pool of its own may have other size classes")]
    public static void DoublesInOwnPool(Stream source)
    {
        byte[] array = s_own.Rent(70_000);
        source.ReadExactly(array, 0, 70_000);
        s_own.Return(array);
    }

    private static readonly ArrayPool<byte> s_own = ArrayPool<byte>.Create();
}
