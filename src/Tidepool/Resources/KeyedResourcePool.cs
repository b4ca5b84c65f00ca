using System.Collections.Concurrent;
using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// A pool for each key, such as an endpoint, under one limit for all: a place that comes free goes to who has waited for longest, whatever
/// the key; an idle resource of one key makes room for another; a key that has nothing is forgotten.
/// </summary>
/// <typeparam name="TKey">The key.</typeparam>
/// <typeparam name="T">The resource.</typeparam>
/// <remarks>
/// Thread-safe. All keys share one lock and one timer; the resource of a key that was returned last is rented
/// without the lock. Renting an idle resource and returning it allocates nothing. A returned resource serves its own key first, but not
/// more than 16 times while another key waits for a place for longer. A key whose factory fails or hangs blocks no other, but its
/// creations count in the limit.
/// </remarks>
[DebuggerDisplay("{Name,nq}")]
public sealed partial class KeyedResourcePool<TKey, T> : IAsyncDisposable, IDisposable, IMeteredResources, ILivePool
    where TKey : notnull
    where T : class
{
    private readonly Func<TKey, ResourcePolicy<T>> _policy;
    private readonly KeyedResourcePoolOptions<TKey> _options;
    private readonly ResourceSettings _perKey;
    private readonly ConcurrentDictionary<TKey, ResourceCore<T>> _cores;
    private readonly ConcurrentDictionary<TKey, Task<SharedResource<T>>> _shared;
    private readonly ResourceGroup<T> _group;
    private bool _isClosed;
    private long _cleared;

    /// <summary>Makes a pool without keys; <paramref name="policy"/> makes the policy of each key.</summary>
    /// <param name="policy">
    /// Gives how the resources of a key are made and looked after. Called by a rental whose key the pool does not have, on its thread and
    /// under no lock. One policy may serve several keys, or all of them.
    /// </param>
    /// <param name="options">Sizes, times and the rest.</param>
    /// <remarks>
    /// <para>The policy of a key stays as long as the pool has something of the key: a resource, a rental that waits, a failed creation to
    /// wait out. A key that was forgotten and comes back gets another policy. When rentals race for a new key, each may call
    /// <paramref name="policy"/>; the pool keeps one result and drops the others, unused. After a shutdown it is called no more.</para>
    /// <para>An exception of <paramref name="policy"/> reaches the caller of that rental as it is; null is an
    /// <see cref="InvalidOperationException"/>. Neither counts as a failed creation: the next rental of the key calls again.</para>
    /// </remarks>
    /// <exception cref="ArgumentNullException">One is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range; the message names it, its value and the
    /// range.</exception>
    public KeyedResourcePool(Func<TKey, ResourcePolicy<T>> policy, KeyedResourcePoolOptions<TKey> options)
    {
        ArgumentNullException.ThrowIfNull(policy);
        ArgumentNullException.ThrowIfNull(options);
        ResourceSettings perKey = KeyedResourcePoolOptions<TKey>.Check(options);
        _policy = policy;
        _options = options;
        _perKey = perKey;
        _cores = new ConcurrentDictionary<TKey, ResourceCore<T>>(options.Comparer);
        _shared = new ConcurrentDictionary<TKey, Task<SharedResource<T>>>(options.Comparer);
        PoolName name = PoolName.Take(perKey.Name, typeof(T).Name);
        _group = new ResourceGroup<T>(name, options.MaxTotal, options.StealIdleAcrossKeys, perKey.TimeProvider, RemoveKey);
        perKey.Meter.Add(this);
        LivePools.Add(this);
    }

    /// <summary>The name in messages, events and metrics.</summary>
    public string Name => _group.PoolName.Text;

    /// <summary>The keys that have resources, or for which a caller waits: a copy.</summary>
    public IReadOnlyCollection<TKey> Keys => [.. _cores.Keys];

    /// <summary>Rents a resource of a key, and waits for it as long as <see cref="ResourcePoolOptions.RentTimeout"/>.</summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The lease; dispose it.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
    /// <exception cref="ResourcePoolException">No resource: the type says why.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask<KeyedResourceLease<TKey, T>> RentAsync(TKey key, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        return TakeHot(key, cancellationToken) is { } slot
            ? new ValueTask<KeyedResourceLease<TKey, T>>(new KeyedResourceLease<TKey, T>(key, new ResourceLease<T>(slot, slot.Version)))
            : RentAsync(key, _perKey.RentTimeout, cancellationToken);
    }

    /// <summary>Rents a resource of a key, and waits for it as long as <paramref name="timeout"/>.</summary>
    /// <param name="key">The key.</param>
    /// <param name="timeout">Zero takes what is idle and needs no asynchronous validation, or fails at once;
    /// <see cref="Timeout.InfiniteTimeSpan"/> waits until the token is cancelled.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The lease; dispose it.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative, or longer than a timer can wait.</exception>
    /// <exception cref="ResourcePoolException">No resource: the type says why.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask<KeyedResourceLease<TKey, T>> RentAsync(TKey key, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        ResourceSettings.Check(timeout);
        return TakeHot(key, cancellationToken) is { } slot
            ? new ValueTask<KeyedResourceLease<TKey, T>>(new KeyedResourceLease<TKey, T>(key, new ResourceLease<T>(slot, slot.Version)))
            : RentAsync(key, ResourceSettings.Milliseconds(timeout, nameof(timeout), 0), cancellationToken);
    }

    /// <summary>Rents a resource of a key on the calling thread; waits up to <see cref="ResourcePoolOptions.RentTimeout"/>.</summary>
    /// <remarks>
    /// The calling thread is parked, in the same queue as callers that await. It creates and validates what is for it
    /// (<see cref="ResourcePolicy{T}.Create"/>, <see cref="ResourcePolicy{T}.Validate"/>), and destroys what must make room for it, of its
    /// key or of another, so it needs no thread of the thread pool.
    /// </remarks>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Ends the wait, and a creation on this thread.</param>
    /// <returns>The lease; dispose it.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
    /// <exception cref="ResourcePoolException">No resource: the type says why.</exception>
    /// <exception cref="NotSupportedException">A resource had to be created, and the policy creates only asynchronously.</exception>
    /// <exception cref="ThreadInterruptedException">The parked thread was interrupted.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public KeyedResourceLease<TKey, T> Rent(TKey key, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        return TakeHot(key, cancellationToken) is { } slot
            ? new KeyedResourceLease<TKey, T>(key, new ResourceLease<T>(slot, slot.Version))
            : new(key, RentParked(key, _perKey.RentTimeout, cancellationToken));
    }

    /// <summary>Rents a resource of a key on the calling thread; waits up to <paramref name="timeout"/>.</summary>
    /// <remarks>
    /// The calling thread is parked, in the same queue as callers that await. It creates and validates what is for it
    /// (<see cref="ResourcePolicy{T}.Create"/>, <see cref="ResourcePolicy{T}.Validate"/>), and destroys what must make room for it, of its
    /// key or of another, so it needs no thread of the thread pool.
    /// </remarks>
    /// <param name="key">The key.</param>
    /// <param name="timeout">
    /// Zero takes what is idle and needs no asynchronous validation, or fails at once; <see cref="Timeout.InfiniteTimeSpan"/> waits until
    /// the token is cancelled.
    /// </param>
    /// <param name="cancellationToken">Ends the wait, and a creation on this thread.</param>
    /// <returns>The lease; dispose it.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative, or longer than a timer can wait.</exception>
    /// <exception cref="ResourcePoolException">No resource: the type says why.</exception>
    /// <exception cref="NotSupportedException">A resource had to be created, and the policy creates only asynchronously.</exception>
    /// <exception cref="ThreadInterruptedException">The parked thread was interrupted.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public KeyedResourceLease<TKey, T> Rent(TKey key, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        ResourceSettings.Check(timeout);
        return TakeHot(key, cancellationToken) is { } slot
            ? new KeyedResourceLease<TKey, T>(key, new ResourceLease<T>(slot, slot.Version))
            : new(key, RentParked(key, ResourceSettings.Milliseconds(timeout, nameof(timeout), 0), cancellationToken));
    }

    /// <summary>
    /// Rents a resource that many renters of the key use at the same time: the first one rents it, the others join, and when its lifetime
    /// is over or it was marked broken the next one gets a new one while the others keep theirs.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Ends this caller's wait; the rental that it shares goes on.</param>
    /// <returns>The lease; dispose it.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
    /// <exception cref="ResourcePoolException">No resource; all who waited for the same one get the same exception.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async ValueTask<SharedLease<T>> RentSharedAsync(TKey key, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (!_shared.TryGetValue(key, out Task<SharedResource<T>>? rental))
            {
                var mine = new TaskCompletionSource<SharedResource<T>>(Schedule.Continuations);
                rental = _shared.GetOrAdd(key, mine.Task);
                if (rental == mine.Task)
                {
                    _ = ShareAsync(key, mine);
                }
            }

            SharedResource<T> shared;
            try
            {
                shared = await rental.WaitAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
            {
                // If no other renter wants what comes, it goes back.
                _ = rental.ContinueWith(
                    static t => Leave(t.Result),
                    CancellationToken.None,
                    TaskContinuationOptions.OnlyOnRanToCompletion | TaskContinuationOptions.ExecuteSynchronously,
                    TaskScheduler.Default);
                throw;
            }

            if (shared.TryJoin(out SharedLease<T> lease))
            {
                return lease;
            }

            _shared.TryRemove(new(key, rental));
        }
    }

    /// <summary>
    /// Ends every resource of a key that lives now, as <see cref="ResourcePool{T}.ClearAsync"/>. Other keys are not touched.
    /// </summary>
    /// <param name="key">The key; nothing happens when the pool does not have it.</param>
    /// <returns>Ends when the idle ones are gone.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
    /// <exception cref="ResourcePoolShutdownException">The pool was shut down.</exception>
    public Task ClearAsync(TKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return _cores.TryGetValue(key, out ResourceCore<T>? core) ? core.ClearAsync() : Task.CompletedTask;
    }

    /// <summary>Ends every resource of every key that lives now.</summary>
    /// <returns>Ends when the idle ones are gone.</returns>
    /// <exception cref="ResourcePoolShutdownException">The pool was shut down.</exception>
    public Task ClearAsync() => Task.WhenAll(_cores.Values.Select(static core => core.ClearAsync()));

    /// <summary>The counters of one key, or null when the pool does not have it. They begin anew when the key was forgotten.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
    public ResourcePoolStatistics? GetStatistics(TKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return _cores.TryGetValue(key, out ResourceCore<T>? core) ? core.GetStatistics() : null;
    }

    /// <summary>Counts the resources of all keys at one moment, those in creation and destruction included.</summary>
    /// <returns>At most <see cref="KeyedResourcePoolOptions{TKey}.MaxTotal"/>.</returns>
    public int GetTotal()
    {
        using PoolSection<T> section = _group.Gate.Enter();
        return _group.Used;
    }

    /// <summary>Ends the pool as <see cref="ResourcePool{T}.ShutdownAsync"/> does, for all keys with one time of grace.</summary>
    /// <param name="grace">How long to wait for leases.</param>
    /// <returns>True when everything is gone; false when leases were still out.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The grace is negative, or longer than a timer can wait.</exception>
    public async Task<bool> ShutdownAsync(TimeSpan grace)
    {
        ResourceSettings.Milliseconds(grace, nameof(grace), 0);
        ResourceCore<T>[] cores;
        using (PoolSection<T> section = _group.Gate.Enter())
        {
            _isClosed = _group.IsClosing = true;
            cores = [.. _group.Pools.Select(static pool => pool.Core)];
        }

        List<Task> drained = [];
        List<Task> ended = [];
        foreach (ResourceCore<T> core in cores)
        {
            core.Close(out Task empty, out Task gone);
            drained.Add(empty);
            ended.Add(gone);
        }

        Task end = EndAsync(ended);
        if (!await ResourceCore<T>.IsDoneWithin(Task.WhenAll(drained), grace, _group.Gate.Clock.Provider).ConfigureAwait(false))
        {
            return false;
        }

        await end.ConfigureAwait(false);
        return true;
    }

    /// <summary>Shuts down without grace and without waiting: idle resources end in the background, leased ones when they come
    /// back.</summary>
    public void Dispose() => _ = ShutdownAsync(TimeSpan.Zero);

    /// <summary>Shuts down without grace.</summary>
    public async ValueTask DisposeAsync() => await ShutdownAsync(TimeSpan.Zero).ConfigureAwait(false);

    IReadOnlyCollection<(string? Key, int Value)> IMeteredResources.Read(ResourceGauge gauge)
    {
        Func<PoolState<T>, int> number;
        switch (gauge)
        {
            case ResourceGauge.Idle:
                number = static pool => pool.Places.Idle;
                break;
            case ResourceGauge.Used:
                number = static pool => pool.InUse;
                break;
            case ResourceGauge.Waiting:
                number = static pool => pool.Waiting;
                break;
            case ResourceGauge.Max:
                return [(null, Volatile.Read(ref _isClosed) ? 0 : _options.MaxTotal)];
            default:
                return [(null, 0)]; // no key has a smallest size
        }

        Dictionary<string, int> sums;
        using (PoolSection<T> section = _group.Gate.Enter())
        {
            sums = _group.Sum(number, section);
        }

        return [.. sums.Select(static sum => ((string?)sum.Key, sum.Value))];
    }

    PoolName ILivePool.PoolName => _group.PoolName;

    PoolInfo ILivePool.Describe() => new(Name, PoolKind.KeyedResources) { ResourceStatistics = SumStatistics() };

    OldestLease? ILivePool.DescribeOldest() =>
        _cores.Values.Select(static core => core.DescribeOldest()).MaxBy(static lease => lease?.Milliseconds ?? -1);

    /// <summary>Keys that were forgotten, for tests.</summary>
    internal long Forgotten => Interlocked.Read(ref _cleared);

    internal void Validate()
    {
        _group.Validate();
        foreach (ResourceCore<T> core in _cores.Values)
        {
            core.Validate();
        }
    }

    /// <summary>Adds up the keys that the pool has now, one after the other.</summary>
    private ResourcePoolStatistics SumStatistics()
    {
        ResourcePoolStatistics sum = default;
        foreach (ResourceCore<T> core in _cores.Values)
        {
            sum = ResourcePoolStatistics.Add(sum, core.GetStatistics());
        }

        return sum with { MaxSize = _options.MaxTotal };
    }

    private async Task EndAsync(List<Task> ended)
    {
        await Task.WhenAll(ended).ConfigureAwait(false);
        _group.Gate.Timer.Dispose();
        _group.PoolName.Free();
    }
}
