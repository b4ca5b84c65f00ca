// Code marked [Secret] leaves nothing behind.
using System.Security.Cryptography;

namespace Traps;

internal sealed class Secrets
{
    [Trap("clearArray is true")]
    [Secret]
    public static int ClearedByPool(ReadOnlySpan<byte> key)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
        key.CopyTo(array);
        int first = array[0];
        ArrayPool<byte>.Shared.Return(array, clearArray: true);
        return first;
    }

    [Trap("cleared by hand before the return")]
    [Secret]
    public static int ClearedByHand(ReadOnlySpan<byte> key)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
        key.CopyTo(array);
        int first = array[0];
        CryptographicOperations.ZeroMemory(array.AsSpan(0, key.Length));
        ArrayPool<byte>.Shared.Return(array);
        return first;
    }

    [Trap("cleared by hand before the return")]
    [Secret]
    public static int ClearedSpan(ReadOnlySpan<byte> key)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
        Span<byte> copy = array.AsSpan(0, key.Length);
        key.CopyTo(copy);
        int first = copy[0];
        copy.Clear();
        ArrayPool<byte>.Shared.Return(array);
        return first;
    }

    [Trap("cleared by hand before the return")]
    [Secret]
    public static int ClearedArray(ReadOnlySpan<byte> key)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
        try
        {
            key.CopyTo(array);
            return array[0];
        }
        finally
        {
            Array.Clear(array, 0, key.Length);
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    [Trap("nothing secret here")]
    public static int NotSecret(ReadOnlySpan<byte> data)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(data.Length);
        data.CopyTo(array);
        int first = array[0];
        ArrayPool<byte>.Shared.Return(array);
        return first;
    }

    [Trap("references of a collection are cleared by a variable")]
    [Secret]
    public static int ClearedByVariable(ReadOnlySpan<byte> key, bool clear)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(key.Length);
        key.CopyTo(array);
        int first = array[0];
        ArrayPool<byte>.Shared.Return(array, clear);
        return first;
    }
}
