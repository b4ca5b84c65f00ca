using System.Diagnostics.Metrics;

namespace Tidepool.Labs;

/// <summary>
/// Counts what the pools of a server hold: ours by their statistics, Kestrel's own by its meter. The meter costs that pool an addition
/// for each rental once it is listened to, so a server whose speed is measured watches neither.
/// </summary>
internal sealed class ServerPoolWatch : IDisposable
{
    private const string Meter = "Microsoft.AspNetCore.MemoryPool";
    private const string Allocated = "aspnetcore.memory_pool.allocated";
    private const string Evicted = "aspnetcore.memory_pool.evicted";
    private const string Pooled = "aspnetcore.memory_pool.pooled";

    private readonly MeterListener? _listener;
    private long _held;
    private long _idle;

    /// <summary>Begins to count; must stand before the server is made.</summary>
    public ServerPoolWatch(KestrelMemory memory)
    {
        if (memory == KestrelMemory.Tidepool)
        {
            return;
        }

        _listener = new()
        {
            InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Meter.Name == Meter && instrument.Name is Allocated or Evicted or Pooled)
                {
                    listener.EnableMeasurementEvents(instrument);
                }
            },
        };
        _listener.SetMeasurementEventCallback<long>((instrument, bytes, _, _) => _ = instrument.Name switch
        {
            Allocated => Interlocked.Add(ref _held, bytes),
            Evicted => Interlocked.Add(ref _held, -bytes),
            _ => Interlocked.Add(ref _idle, bytes),
        });
        _listener.Start();
    }

    /// <summary>Bytes leased and idle at this moment.</summary>
    public (long Leased, long Idle) Read()
    {
        if (_listener is not null)
        {
            long idle = Interlocked.Read(ref _idle);
            return (Interlocked.Read(ref _held) - idle, idle); // its own count of rentals counts no returns
        }

        PoolStatistics[] pools =
            [.. Pools.All.Where(static pool => pool.Kind == Tidepool.PoolKind.Buffers).Select(static pool => pool.Statistics!.Value)];
        return (pools.Sum(static pool => pool.BytesLeased), pools.Sum(static pool => pool.BytesIdle));
    }

    /// <inheritdoc/>
    public void Dispose() => _listener?.Dispose();
}
