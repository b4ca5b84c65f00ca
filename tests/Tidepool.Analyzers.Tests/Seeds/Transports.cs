// Pipes, sockets and streams, mostly asynchronous.
using System.IO.Pipelines;
using System.Net.Sockets;

namespace Seeds;

internal static class Transports
{
    [Seed("socket")]
    public static int ReceiveFrame(Socket socket, int length)
    {
        byte[] frame = ArrayPool<byte>.Shared.Rent(length);
        int total = 0;
        while (total < length)
        {
            int read = socket.Receive(frame, total, length - total, SocketFlags.None);
            if (read == 0)
            {
                break;
            }

            total += read;
        }

        int sum = 0;
        foreach (byte one in frame.AsSpan(0, total))
        {
            sum += one;
        }

        ArrayPool<byte>.Shared.Return(frame);
        return sum;
    }

    [Seed("socket")]
    public static async Task<int> EchoAsync(Socket socket, int size, CancellationToken token)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        try
        {
            int total = 0;
            while (true)
            {
                int read = await socket.ReceiveAsync(buffer.AsMemory(0, size), SocketFlags.None, token).ConfigureAwait(false);
                if (read == 0)
                {
                    break;
                }

                await socket.SendAsync(buffer.AsMemory(0, read), SocketFlags.None, token).ConfigureAwait(false);
                total += read;
            }

            return total;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    [Seed("pipe")]
    public static async Task FillAsync(Stream source, PipeWriter writer, int size)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        int read;
        while ((read = await source.ReadAsync(buffer.AsMemory(0, size))) > 0)
        {
            await writer.WriteAsync(buffer.AsMemory(0, read));
        }

        ArrayPool<byte>.Shared.Return(buffer);
        await writer.CompleteAsync();
    }

    [Seed("pipe")]
    public static async Task<int> DrainAsync(PipeReader reader, Stream target)
    {
        int total = 0;
        while (true)
        {
            ReadResult result = await reader.ReadAsync();
            int length = (int)result.Buffer.Length;
            byte[] linear = ArrayPool<byte>.Shared.Rent(length);
            result.Buffer.CopyTo(linear);
            reader.AdvanceTo(result.Buffer.End);
            await target.WriteAsync(linear.AsMemory(0, length));
            ArrayPool<byte>.Shared.Return(linear);
            total += length;
            if (result.IsCompleted)
            {
                return total;
            }
        }
    }

    [Seed("async")]
    public static async Task<long> CopyAsync(Stream source, Stream target, int size, CancellationToken token)
    {
        using IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(size);
        Memory<byte> window = owner.Memory[..size];
        long total = 0;
        int read;
        while ((read = await source.ReadAsync(window, token)) > 0)
        {
            await target.WriteAsync(window[..read], token);
            total += read;
        }

        return total;
    }

    [Seed("async")]
    public static async Task<bool> SameAsync(Stream left, Stream right, int size)
    {
        byte[] a = ArrayPool<byte>.Shared.Rent(size);
        byte[] b = ArrayPool<byte>.Shared.Rent(size);
        int first = await left.ReadAtLeastAsync(a.AsMemory(0, size), size, throwOnEndOfStream: false);
        int second = await right.ReadAtLeastAsync(b.AsMemory(0, size), size, throwOnEndOfStream: false);
        bool isSame = a.AsSpan(0, first).SequenceEqual(b.AsSpan(0, second));
        ArrayPool<byte>.Shared.Return(a);
        ArrayPool<byte>.Shared.Return(b);
        return isSame;
    }

    [Seed("async")]
    public static async Task<int> LeasedReadAsync(BufferPool<byte> pool, Stream source, int size)
    {
        BufferLease<byte> lease = pool.Rent(size);
        try
        {
            Memory<byte> memory = lease.Memory;
            return await source.ReadAsync(memory);
        }
        finally
        {
            lease.Return();
        }
    }

    [Seed("async")]
    public static async Task<int> ResourceAsync(ResourcePool<MemoryStream> pool, ReadOnlyMemory<byte> content)
    {
        ResourceLease<MemoryStream> lease = await pool.RentAsync();
        await lease.Value.WriteAsync(content);
        int length = (int)lease.Value.Length;
        lease.Dispose();
        return length;
    }
}
