using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics.Telemetry;

/// <summary>Pools to which everything happens that instruments and spans show.</summary>
internal sealed class EventfulPools : IAsyncDisposable
{
    private readonly ManualTime _time = new();
    private readonly FakePolicy _policy = new() { OnResetHere = static _ => true };
    private readonly BufferPool<byte> _buffers = BufferPool<byte>.Create(new() { Name = "eventful buffers" });
    private readonly KeyedResourcePool<string, FakeResource> _keyed;
    private readonly ResourcePool<FakeResource> _connections;
    private readonly ResourcePool<FakeResource> _plain;

    internal EventfulPools()
    {
        _keyed = new(_ => _policy, new() { MaxTotal = 200, PerKey = Options("eventful keys", MeterNames.Resources) });
        _connections = new(_policy, Options("eventful connections", MeterNames.Connections));
        _plain = new(_policy, Options("eventful resources", MeterNames.Resources));
    }

    internal async Task LiveAsync()
    {
        _buffers.Rent(100).Return();
        await LiveAsync(
            async () => await _keyed.RentAsync("a"),
            async () => await _keyed.RentAsync("a", TimeSpan.FromSeconds(1)),
            static l => l.MarkBroken());
        await LiveAsync(
            async () => await _connections.RentAsync(),
            async () => await _connections.RentAsync(TimeSpan.FromSeconds(1)),
            static l => l.MarkBroken());
        await LiveAsync(
            async () => await _plain.RentAsync(),
            async () => await _plain.RentAsync(TimeSpan.FromSeconds(1)),
            static l => l.MarkBroken());
    }

    /// <summary>A rental of each key.</summary>
    internal async Task RentEachAsync(IEnumerable<string> keys)
    {
        foreach (string key in keys)
        {
            (await _keyed.RentAsync(key)).Dispose();
        }
    }

    /// <summary>What is idle ends by its age, and keys that have nothing are forgotten.</summary>
    internal void ForgetKeys()
    {
        _time.Advance(TimeSpan.FromMinutes(6));
        Assert.Empty(_keyed.Keys);
    }

    public async ValueTask DisposeAsync()
    {
        _buffers.Dispose();
        await _keyed.DisposeAsync();
        await _connections.DisposeAsync();
        await _plain.DisposeAsync();
    }

    /// <summary>A leak, a refusal, a timeout, a wait that is served, a failed creation and a broken resource.</summary>
    private async Task LiveAsync<TLease>(Func<Task<TLease>> rent, Func<Task<TLease>> rentForASecond, Action<TLease> markBroken)
        where TLease : struct, IDisposable
    {
        TLease lease = await rent();
        Task<TLease> late = rentForASecond();
        await Assert.ThrowsAsync<ResourcePoolRejectedException>(rent);
        _time.Advance(1000);
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => late.WaitAsync(Eventually.Limit));
        Task<TLease> waiting = rent();
        lease.Dispose();
        lease = await waiting.WaitAsync(Eventually.Limit);
        markBroken(lease);
        lease.Dispose();
        _policy.CreateError = new IOException("down");
        await Assert.ThrowsAsync<ResourceCreateException>(rent);
        _policy.CreateError = null;
        _time.Advance(1000);
        (await rent()).Dispose();
    }

    private ResourcePoolOptions Options(string name, MeterNames names) => new()
    {
        Name = name,
        MaxSize = 1,
        MaxWaiters = 1,
        ResetMode = ResetMode.OnReturn,
        LeakThreshold = TimeSpan.FromSeconds(1),
        TimeProvider = _time,
        MeterNames = names,
        Executor = static item => item.Execute(),
    };
}
