// try, catch and finally.
namespace Traps;

internal sealed class Exceptions
{
    [Trap("finally returns once")]
    public static int Finally(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            return stream.Read(array, 0, length);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    [Trap("no finally by choice")]
    public static int NoFinally(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int read = stream.Read(array, 0, length);
        ArrayPool<byte>.Shared.Return(array);
        return read;
    }

    [Trap("catch returns and rethrows, the end returns too")]
    public static int CatchRethrows(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int read;
        try
        {
            read = stream.Read(array, 0, length);
        }
        catch
        {
            ArrayPool<byte>.Shared.Return(array);
            throw;
        }

        ArrayPool<byte>.Shared.Return(array);
        return read;
    }

    [Trap("catch with a filter returns and leaves")]
    public static int CatchFilter(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            int read = stream.Read(array, 0, length);
            ArrayPool<byte>.Shared.Return(array);
            return read;
        }
        catch (IOException error) when (error.HResult == 5)
        {
            return -1;
        }
    }

    [Trap("null keeps finally from returning again")]
    public static int NulledInTry(Stream stream, int length)
    {
        byte[]? array = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            int read = stream.Read(array, 0, length);
            ArrayPool<byte>.Shared.Return(array);
            array = null;
            return read;
        }
        finally
        {
            if (array is not null)
            {
                ArrayPool<byte>.Shared.Return(array);
            }
        }
    }

    [Trap("a flag keeps finally from returning again")]
    public static byte[]? SuccessFlag(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        bool isHandedOver = false;
        try
        {
            if (stream.Read(array, 0, length) < length)
            {
                return null;
            }

            isHandedOver = true;
            return array;
        }
        finally
        {
            if (!isHandedOver)
            {
                ArrayPool<byte>.Shared.Return(array);
            }
        }
    }

    [Trap("only the failed construction returns it")]
    public static MemoryStream ConstructionFails(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            return new MemoryStream(array, 0, length);
        }
        catch (ArgumentException)
        {
            ArrayPool<byte>.Shared.Return(array);
            throw;
        }
    }

    [Trap("nested finally, each for its own")]
    public static int Nested(Stream stream, int length)
    {
        byte[] outer = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            byte[] inner = ArrayPool<byte>.Shared.Rent(length);
            try
            {
                return stream.Read(outer, 0, length) + stream.Read(inner, 0, length);
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(inner);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(outer);
        }
    }

    [Trap("the buffer is rented inside the try")]
    public static int RentedInTry(Stream stream, int length)
    {
        byte[]? array = null;
        try
        {
            array = ArrayPool<byte>.Shared.Rent(length);
            return stream.Read(array, 0, length);
        }
        finally
        {
            if (array != null)
            {
                ArrayPool<byte>.Shared.Return(array);
            }
        }
    }

    [Trap("the try replaces it, finally returns the last")]
    public static int ReplacedInTry(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            int read = stream.Read(array, 0, length);
            if (read == length)
            {
                ArrayPool<byte>.Shared.Return(array);
                array = ArrayPool<byte>.Shared.Rent(length + length);
                read += stream.Read(array, 0, length);
            }

            return read;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    [Trap("a path that throws needs no return")]
    public static int Throws(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int read = stream.Read(array, 0, length);
        if (read == 0)
        {
            throw new EndOfStreamException();
        }

        ArrayPool<byte>.Shared.Return(array);
        return read;
    }

    [Trap("a path that throws needs no return")]
    public static int ThrowHelper(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int read = stream.Read(array, 0, length);
        ArgumentOutOfRangeException.ThrowIfZero(read);
        ArrayPool<byte>.Shared.Return(array);
        return read;
    }

    [Trap("a path that throws needs no return")]
    public static void AlwaysThrows(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        throw new NotSupportedException($"{array.Length}");
    }

    [Trap("catch swallows, finally returns")]
    public static int Swallows(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int read = 0;
        try
        {
            read = stream.Read(array, 0, length);
        }
        catch (IOException)
        {
            read = -1;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return read;
    }

    [Trap("under a lock")]
    public static int Locked(object gate, Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int read;
        lock (gate)
        {
            read = stream.Read(array, 0, length);
        }

        ArrayPool<byte>.Shared.Return(array);
        return read;
    }

    private static readonly ArrayPool<byte> s_arrays = ArrayPool<byte>.Shared;

    private bool _isDone;

    [Trap("a field tells the finally block that the return is done")]
    public void DoneField(Stream source, int length)
    {
        byte[] array = s_arrays.Rent(length);
        try
        {
            source.ReadExactly(array, 0, length);
            s_arrays.Return(array);
            _isDone = true;
        }
        finally
        {
            if (!_isDone)
            {
                s_arrays.Return(array);
            }
        }
    }

    [Trap("a number tells the finally block that the return is done")]
    public static void DoneNumber(Stream source, int length)
    {
        int state = 0;
        byte[] array = s_arrays.Rent(length);
        try
        {
            source.ReadExactly(array, 0, length);
            s_arrays.Return(array);
            state = 1;
        }
        finally
        {
            if (state != 1)
            {
                s_arrays.Return(array);
            }
        }
    }

    [Trap("a number tells the catch block that the return is done")]
    public static void DoneInCatch(Stream source, int length)
    {
        int state = 0;
        byte[] array = s_arrays.Rent(length);
        try
        {
            source.ReadExactly(array, 0, length);
            s_arrays.Return(array);
            state = 1;
            source.Flush();
        }
        catch (IOException) when (state == 0)
        {
            s_arrays.Return(array);
        }
        catch (ObjectDisposedException)
        {
            if (state == 0)
            {
                s_arrays.Return(array);
            }
        }
    }
}
