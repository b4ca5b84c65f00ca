using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Text;

namespace Tidepool.Published;

/// <summary>Drops one rental of each kind and prints what the callback reports.</summary>
internal static class Leaks
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    /// <summary>Prints the kind of each rental with the first frame of its report.</summary>
    internal static async Task RunAsync()
    {
        bool isSwitched = AppContext.TryGetSwitch("System.Diagnostics.Tracing.EventSource.IsSupported", out bool isSupported);
        Console.WriteLine($"event sources: {!isSwitched || isSupported}");
        var reports = new ConcurrentDictionary<string, string>();
        PoolDiagnostics.MisuseReported += report => reports.TryAdd(report.PoolName, report.Message);
        using BufferPool<byte> buffers = BufferPool<byte>.Create(new() { Name = "buffer" });
        using BufferPool<byte> arrays = BufferPool<byte>.Create(new() { Name = "array" });
        using ObjectPool<StringBuilder> objects = ObjectPool<StringBuilder>.Create(static () => new(), options: new() { Name = "object" });
        await using var dropped = new ResourcePool<Resource>(
            new Policy(), new() { Name = "resource", MaxSize = 1, ReclaimLeaks = true, LeakCapture = LeakCapture.CallSite });
        TimeSpan soon = TimeSpan.FromMilliseconds(100);
        await using var held = new ResourcePool<Resource>(
            new Policy(), new() { Name = "overdue resource", MaxSize = 1, LeakThreshold = soon, LeakCapture = LeakCapture.Stack });
        DropBuffer(buffers);
        DropArray(arrays);
        DropObject(objects);
        DropStreams();
        DropResource(dropped);
        ResourceLease<Resource> lease = HoldResource(held);
        long deadline = Environment.TickCount64 + (long)Patience.TotalMilliseconds;
        while (reports.Count < 6 && Environment.TickCount64 < deadline)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            await Task.Delay(20);
        }

        lease.Dispose();
        foreach ((string pool, string message) in reports)
        {
            string? frame = message.Split('\n').FirstOrDefault(static line => line.StartsWith("   at ", StringComparison.Ordinal));
            Console.WriteLine($"{pool}:{frame}");
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropBuffer(BufferPool<byte> pool) => pool.Rent(100).Span.Clear();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropArray(BufferPool<byte> pool) => pool.AsArrayPool().Rent(100).AsSpan().Clear();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropObject(ObjectPool<StringBuilder> pool) => pool.Rent().Value.Append('x');

    /// <summary>Drops many streams, because only a sample of them is reported.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropStreams()
    {
        for (int i = 0; i < 64 * 4; i++)
        {
            new PooledMemoryStream().WriteByte(1);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropResource(ResourcePool<Resource> pool) => pool.Rent(Patience).Value.Use();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ResourceLease<Resource> HoldResource(ResourcePool<Resource> pool) => pool.Rent(Patience);

    private sealed class Resource
    {
        private int _uses;

        internal void Use() => _uses++;
    }

    private sealed class Policy : ResourcePolicy<Resource>
    {
        public override Resource Create(CancellationToken cancellationToken) => new();

        public override ValueTask<Resource> CreateAsync(CancellationToken cancellationToken) => new(new Resource());
    }
}
