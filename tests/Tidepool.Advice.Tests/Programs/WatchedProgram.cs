using System.Buffers;

namespace Tidepool.Advice.Tests.Programs;

/// <summary>Rents, holds, waits and allocates until its standard input ends.</summary>
internal static class WatchedProgram
{
    public const string Name = "watched";
    public const string BufferPool = "uploads";
    public const string ResourcePool = "orders";
    public const string RentingMethod = nameof(RentAndHoldAsync);

    /// <summary>Printed when everything runs.</summary>
    public const string Ready = "ready";

    public static async Task RunAsync()
    {
        using var buffers = BufferPool<byte>.Create(new() { Name = BufferPool });
        await using var resources = Tidepool.ResourcePool.Create(
            static _ => Task.FromResult(new object()),
            new() { Name = ResourcePool, MaxSize = 1, LeakCapture = LeakCapture.CallSite });
        using ResourceLease<object> held = await RentAndHoldAsync(resources);
        using var stop = new CancellationTokenSource();
        Task waiting = Task.Run(async () => await resources.RentAsync(Timeout.InfiniteTimeSpan, stop.Token));
        Task work = Task.Run(() => Work(buffers, stop.Token));
        Console.WriteLine(Ready);
        await Console.In.ReadToEndAsync();
        await stop.CancelAsync();
        await Task.WhenAny(Task.WhenAll(waiting, work));
    }

    private static async Task<ResourceLease<object>> RentAndHoldAsync(ResourcePool<object> resources) => await resources.RentAsync();

    private static void Work(BufferPool<byte> buffers, CancellationToken stop)
    {
        while (!stop.WaitHandle.WaitOne(1))
        {
            for (int i = 0; i < 100; i++)
            {
                buffers.Rent(1000).Return();
                GC.KeepAlive(new byte[10_000]);
                byte[] array = ArrayPool<byte>.Shared.Rent(5000);
                ArrayPool<byte>.Shared.Return(array);
            }
        }
    }
}
