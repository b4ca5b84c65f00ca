using System.Buffers;
using System.Diagnostics;
using System.IO.Pipelines;

namespace Tidepool.Labs;

/// <summary>Copies 64 MiB through pipes over one pool; an operation is the whole copy, shared by the pipes.</summary>
internal sealed class PipeLoop(MemoryPool<byte>? pool, int pipes) : Loop
{
    private const int TotalBytes = 64 << 20;
    private const int WarmUpBytes = 1 << 20;
    private const int WriteBytes = 4096;

    private static readonly byte[] Source = new byte[WriteBytes];

    private readonly PipeOptions _options = new(pool);

    /// <inheritdoc/>
    public override void Run(int operations) => Copy(WarmUpBytes);

    /// <inheritdoc/>
    public override Sample Measure(int operations)
    {
        var collections = CollectionCounts.Now();
        long bytes = GC.GetTotalAllocatedBytes(precise: true);
        long start = Stopwatch.GetTimestamp();
        for (int i = 0; i < operations; i++)
        {
            Copy(TotalBytes);
        }

        long ticks = Stopwatch.GetTimestamp() - start;
        bytes = GC.GetTotalAllocatedBytes(precise: true) - bytes;
        return Sample.Of(ticks, bytes, CollectionCounts.Now().Since(collections), operations);
    }

    private void Copy(int bytes)
    {
        int share = bytes / pipes;
        var copies = new Task[2 * pipes];
        for (int i = 0; i < pipes; i++)
        {
            var pipe = new Pipe(_options);
            copies[2 * i] = Task.Run(() => WriteAsync(pipe.Writer, share));
            copies[(2 * i) + 1] = Task.Run(() => ReadAsync(pipe.Reader, share));
        }

        Task.WaitAll(copies);
    }

    private static async Task WriteAsync(PipeWriter writer, int bytes)
    {
        for (int written = 0; written < bytes; written += WriteBytes)
        {
            Source.CopyTo(writer.GetMemory(WriteBytes).Span);
            writer.Advance(WriteBytes);
            await writer.FlushAsync();
        }

        await writer.CompleteAsync();
    }

    private static async Task ReadAsync(PipeReader reader, int bytes)
    {
        long read = 0;
        int sum = 0;
        while (true)
        {
            var result = await reader.ReadAsync();
            foreach (var segment in result.Buffer)
            {
                sum += segment.Span[0];
            }

            read += result.Buffer.Length;
            reader.AdvanceTo(result.Buffer.End);
            if (result.IsCompleted)
            {
                break;
            }
        }

        await reader.CompleteAsync();
        long expected = (bytes + WriteBytes - 1) / WriteBytes * (long)WriteBytes;
        if (read != expected || sum != 0)
        {
            throw new InvalidDataException($"The pipe gave {read} of {expected} bytes.");
        }
    }
}
