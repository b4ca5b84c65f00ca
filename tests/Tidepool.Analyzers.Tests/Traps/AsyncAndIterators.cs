// The compiler cuts the method into pieces.
using System.IO.Pipelines;
using System.Net.Sockets;
using System.Runtime.CompilerServices;

namespace Traps;

internal sealed class AsyncAndIterators
{
    [Trap("async with finally")]
    public static async Task<int> CopyAsync(Stream from, Stream to, int size, CancellationToken token)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        try
        {
            int total = 0;
            int read;
            while ((read = await from.ReadAsync(buffer.AsMemory(0, size), token).ConfigureAwait(false)) > 0)
            {
                await to.WriteAsync(buffer.AsMemory(0, read), token).ConfigureAwait(false);
                total += read;
            }

            return total;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    [Trap("async without finally, by choice")]
    public static async Task<int> ReadOnceAsync(Stream from, int size)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        int read = await from.ReadAsync(buffer.AsMemory(0, size));
        ArrayPool<byte>.Shared.Return(buffer);
        return read;
    }

    [Trap("the pending operation is awaited before the return")]
    public static async Task StartThenAwaitAsync(Stream to, int size)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        Task pending = to.WriteAsync(buffer, 0, size);
        await Task.Yield();
        await pending;
        ArrayPool<byte>.Shared.Return(buffer);
    }

    [Trap("await using")]
    public static async Task<int> AwaitUsingAsync(ResourcePool<MemoryStream> pool)
    {
        await using ResourceLease<MemoryStream> lease = await pool.RentAsync();
        return (int)lease.Value.Length;
    }

    [Trap("await using with ConfigureAwait")]
    public static async Task<int> AwaitUsingConfiguredAsync(ResourcePool<MemoryStream> pool)
    {
        ResourceLease<MemoryStream> lease = await pool.RentAsync();
        await using (lease.ConfigureAwait(false))
        {
            return (int)lease.Value.Length;
        }
    }

    [Trap("await using of a scope")]
    public static async Task<int> ScopeAsync(BufferPool<byte> pool, Stream from, int size)
    {
        await using var scope = new AsyncLeaseScope();
        BufferLease<byte> first = scope.Rent(pool, size);
        BufferLease<byte> second = scope.Rent(pool, size);
        return await from.ReadAsync(first.Memory) + await from.ReadAsync(second.Memory);
    }

    [Trap("a lease may cross an await")]
    public static async Task<int> LeaseAcrossAwaitAsync(BufferPool<byte> pool, Stream from, int size)
    {
        using BufferLease<byte> lease = pool.Rent(size);
        return await from.ReadAsync(lease.Memory);
    }

    [Trap("returned in another await path")]
    public static async ValueTask<int> FastOrSlowAsync(Stream from, int size)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        ValueTask<int> read = from.ReadAsync(buffer.AsMemory(0, size));
        if (read.IsCompletedSuccessfully)
        {
            int fast = read.Result;
            ArrayPool<byte>.Shared.Return(buffer);
            return fast;
        }

        int slow = await read;
        ArrayPool<byte>.Shared.Return(buffer);
        return slow;
    }

    [Trap("handed to the slow half")]
    public static ValueTask<int> SlowHalfAsync(Stream from, int size)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        ValueTask<int> read = from.ReadAsync(buffer.AsMemory(0, size));
        if (!read.IsCompletedSuccessfully)
        {
            return FinishAsync(read, buffer);
        }

        int count = read.Result;
        ArrayPool<byte>.Shared.Return(buffer);
        return new ValueTask<int>(count);

        static async ValueTask<int> FinishAsync(ValueTask<int> pending, byte[] rented)
        {
            try
            {
                return await pending;
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(rented);
            }
        }
    }

    [Trap("await in a loop with a new buffer each turn")]
    public static async Task PumpAsync(Socket socket, PipeWriter writer, int size, CancellationToken token)
    {
        while (!token.IsCancellationRequested)
        {
            byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
            int read = await socket.ReceiveAsync(buffer.AsMemory(0, size), SocketFlags.None, token);
            if (read == 0)
            {
                ArrayPool<byte>.Shared.Return(buffer);
                break;
            }

            await writer.WriteAsync(buffer.AsMemory(0, read), token);
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    [Trap("iterator with finally")]
    public static IEnumerable<int> Numbers(Stream from, int size)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        try
        {
            int read;
            while ((read = from.Read(buffer, 0, size)) > 0)
            {
                for (int i = 0; i < read; i++)
                {
                    yield return buffer[i];
                }
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    [Trap("iterator that is left early drops it")]
    public static IEnumerable<byte> Lazily(int size)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        for (int i = 0; i < size; i++)
        {
            yield return buffer[i];
        }

        ArrayPool<byte>.Shared.Return(buffer);
    }

    [Trap("an iterator yields the buffer itself")]
    public static IEnumerable<byte[]> Chunks(Stream from, int size)
    {
        while (true)
        {
            byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
            if (from.Read(buffer, 0, size) == 0)
            {
                ArrayPool<byte>.Shared.Return(buffer);
                yield break;
            }

            yield return buffer;
        }
    }

    [Trap("an iterator yields memory, then returns it")]
    public static IEnumerable<ReadOnlyMemory<byte>> Windows(Stream from, int size)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        int read;
        while ((read = from.Read(buffer, 0, size)) > 0)
        {
            yield return buffer.AsMemory(0, read);
        }

        ArrayPool<byte>.Shared.Return(buffer);
    }

    [Trap("async iterator with finally")]
    public static async IAsyncEnumerable<ReadOnlyMemory<byte>> WindowsAsync(
        Stream from, int size, [EnumeratorCancellation] CancellationToken token = default)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        try
        {
            int read;
            while ((read = await from.ReadAsync(buffer.AsMemory(0, size), token)) > 0)
            {
                yield return buffer.AsMemory(0, read);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    [Trap("await foreach between rent and return")]
    public static async Task<int> SumAsync(IAsyncEnumerable<int> numbers, int size)
    {
        int[] buffer = ArrayPool<int>.Shared.Rent(size);
        int used = 0;
        await foreach (int number in numbers)
        {
            buffer[used++ % size] = number;
        }

        int sum = buffer[0] + used;
        ArrayPool<int>.Shared.Return(buffer);
        return sum;
    }
}
