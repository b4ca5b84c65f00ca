using System.Buffers;
using System.Text.Json;
using Microsoft.IO;
using Tidepool;

namespace Samples;

/// <summary>Writes with RecyclableMemoryStream, and again with ours.</summary>
public static class FromRecyclableMemoryStream
{
    private static readonly RecyclableMemoryStreamManager Manager = new(new RecyclableMemoryStreamManager.Options
    {
        MaximumSmallPoolFreeBytes = 16 << 20,
    });

    private static readonly PooledMemoryStreamOptions Options = new() { Budget = 16 << 20 };

    public static void Run(TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        console.WriteLine($"old: {Old()} bytes");
        console.WriteLine($"new: {New()} bytes");
        console.WriteLine($"old: {OldWithBudget()} bytes within a limit");
        console.WriteLine($"new: {NewWithBudget()} bytes within a budget");
    }

    private static long Old()
    {
        using RecyclableMemoryStream stream = Manager.GetStream();
        JsonSerializer.Serialize(stream, new[] { 1, 2, 3 });
        ReadOnlySequence<byte> content = stream.GetReadOnlySequence();
        return content.Length;
    }

    private static long New()
    {
        using var stream = new PooledMemoryStream();
        JsonSerializer.Serialize(stream, new[] { 1, 2, 3 });
        ReadOnlySequence<byte> content = stream.GetReadOnlySequence();
        return content.Length;
    }

    private static int OldWithBudget()
    {
        using RecyclableMemoryStream stream = Manager.GetStream("report", 100_000);
        stream.Write(new byte[100_000]);
        return stream.GetBuffer().AsSpan(0, (int)stream.Length).Length;
    }

    private static int NewWithBudget()
    {
        using var stream = new PooledMemoryStream(Options);
        stream.Reserve(100_000);
        stream.Write(new byte[100_000]);
        return stream.ToUnsafeArraySegment().Count;
    }
}
