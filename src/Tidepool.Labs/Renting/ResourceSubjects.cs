using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Labs;

/// <summary>What is written by hand: a semaphore that counts and a queue that holds.</summary>
/// <typeparam name="TTimeout">How long a caller waits at most.</typeparam>
[SuppressMessage(
    "Design", "CA1001",
    Justification = "It lives as long as the process, and a semaphore that gave no wait handle has nothing to dispose.")]
internal readonly struct SemaphoreSubject<TTimeout> : IResourceSubject<SemaphoreSubject<TTimeout>, Thing>
    where TTimeout : struct, ITimeout
{
    private readonly SemaphoreSlim _free;
    private readonly ConcurrentQueue<Thing> _things;

    private SemaphoreSubject(int size)
    {
        _free = new SemaphoreSlim(size, size);
        _things = new ConcurrentQueue<Thing>(Enumerable.Range(0, size).Select(_ => new Thing()));
    }

    /// <inheritdoc/>
    public static SemaphoreSubject<TTimeout> Open(int size) => new(size);

    /// <inheritdoc/>
    public Thing Rent() => Take(_free.Wait(TTimeout.Milliseconds), _things);

    /// <inheritdoc/>
    public ValueTask<Thing> RentAsync()
    {
        Task<bool> turn = _free.WaitAsync(TTimeout.Milliseconds);
        return turn.IsCompletedSuccessfully ? new ValueTask<Thing>(Take(turn.Result, _things)) : Await(turn, _things);
    }

    /// <inheritdoc/>
    public void Use(in Thing item) => item.Uses++;

    /// <inheritdoc/>
    public Thing Of(in Thing item) => item;

    /// <inheritdoc/>
    public void Return(in Thing item)
    {
        _things.Enqueue(item);
        _free.Release();
    }

    private static async ValueTask<Thing> Await(Task<bool> turn, ConcurrentQueue<Thing> things) =>
        Take(await turn.ConfigureAwait(false), things);

    private static Thing Take(bool isMine, ConcurrentQueue<Thing> things) =>
        isMine && things.TryDequeue(out Thing? thing)
            ? thing
            : throw new InvalidOperationException("The semaphore gave no turn in time, or counts more things than there are.");
}

/// <summary>How long a caller waits at most.</summary>
internal interface ITimeout
{
    /// <summary>Milliseconds; <see cref="Timeout.Infinite"/> is no limit.</summary>
    static abstract int Milliseconds { get; }
}

/// <summary>Waits without a limit.</summary>
internal readonly struct NoTimeout : ITimeout
{
    /// <inheritdoc/>
    public static int Milliseconds => Timeout.Infinite;
}

/// <summary>Waits for a minute, as a program does that must not hang.</summary>
internal readonly struct OneMinute : ITimeout
{
    /// <inheritdoc/>
    public static int Milliseconds => 60_000;
}

/// <summary>Makes things at once.</summary>
internal sealed class ThingPolicy : ResourcePolicy<Thing>
{
    /// <inheritdoc/>
    public override ValueTask<Thing> CreateAsync(CancellationToken cancellationToken) => new(new Thing());

    /// <inheritdoc/>
    public override Thing Create(CancellationToken cancellationToken) => new();
}

/// <summary>Ours.</summary>
internal readonly struct PoolSubject : IResourceSubject<PoolSubject, ResourceLease<Thing>>
{
    private static readonly TimeSpan Timeout = TimeSpan.FromMilliseconds(OneMinute.Milliseconds);

    private readonly ResourcePool<Thing> _pool;

    private PoolSubject(ResourcePool<Thing> pool) => _pool = pool;

    /// <inheritdoc/>
    public static PoolSubject Open(int size)
    {
        var pool = new ResourcePool<Thing>(new ThingPolicy(), new ResourcePoolOptions { Name = "lab", MaxSize = size });
        pool.WarmUpAsync(size).GetAwaiter().GetResult();
        return new PoolSubject(pool);
    }

    /// <inheritdoc/>
    public ResourceLease<Thing> Rent() => _pool.Rent(Timeout);

    /// <inheritdoc/>
    public ValueTask<ResourceLease<Thing>> RentAsync() => _pool.RentAsync(Timeout);

    /// <inheritdoc/>
    public void Use(in ResourceLease<Thing> item) => item.Value.Uses++;

    /// <inheritdoc/>
    public Thing Of(in ResourceLease<Thing> item) => item.Value;

    /// <inheritdoc/>
    public void Return(in ResourceLease<Thing> item) => item.Dispose();
}

/// <summary>Ours with a key: one hot one, or the next of a thousand.</summary>
internal readonly struct KeyedSubject : IResourceSubject<KeyedSubject, KeyedResourceLease<int, Thing>>
{
    private readonly KeyedResourcePool<int, Thing> _pool;

    private KeyedSubject(KeyedResourcePool<int, Thing> pool) => _pool = pool;

    /// <summary>Makes things at once, whatever the key.</summary>
    internal static ThingPolicy Policy { get; } = new();

    /// <inheritdoc/>
    public static KeyedSubject Open(int size) => new(new KeyedResourcePool<int, Thing>(
        static _ => Policy, new() { MaxTotal = 10_000, PerKey = new() { Name = "lab, keyed", MaxSize = size } }));

    /// <inheritdoc/>
    public KeyedResourceLease<int, Thing> Rent() => _pool.Rent(0);

    /// <inheritdoc/>
    public ValueTask<KeyedResourceLease<int, Thing>> RentAsync() => _pool.RentAsync(0);

    /// <summary>Rents for one of many keys.</summary>
    public ValueTask<KeyedResourceLease<int, Thing>> RentAsync(int key) => _pool.RentAsync(key);

    /// <inheritdoc/>
    public void Use(in KeyedResourceLease<int, Thing> item) => item.Value.Uses++;

    /// <inheritdoc/>
    public Thing Of(in KeyedResourceLease<int, Thing> item) => item.Value;

    /// <inheritdoc/>
    public void Return(in KeyedResourceLease<int, Thing> item) => item.Dispose();
}
