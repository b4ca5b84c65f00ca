using System.Collections.Concurrent;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A pool for each key, such as an endpoint, under one limit for all: a place that comes free goes to who has waited for longest, whatever the key; an
/// idle resource of one key makes room for another; a key that has nothing is forgotten.
/// </summary>
/// <typeparam name="TKey">The key.</typeparam>
/// <typeparam name="T">The resource.</typeparam>
/// <remarks>
/// Thread-safe. All keys share one lock that is held for some nanoseconds, and one timer; the resource of a key that was returned last is rented
/// without the lock. Renting an idle resource and returning it allocates nothing. A returned resource serves its own key first, but not more than 16
/// times while another key waits for a place for longer. A key whose factory fails or hangs blocks no other, but its creations count in the limit.
/// </remarks>
public sealed class KeyedResourcePool<TKey, T> : IAsyncDisposable, IMeteredResources
    where TKey : notnull
    where T : class
{
    private readonly KeyedResourcePolicy<TKey, T> _policy;
    private readonly KeyedResourcePoolOptions<TKey, T> _options;
    private readonly ConcurrentDictionary<TKey, ResourceCore<T>> _cores;
    private readonly ConcurrentDictionary<TKey, Task<SharedResource<T>>> _shared;
    private readonly ResourceGroup<T> _group;
    private readonly long _timeout;
    private readonly PolicyTraits _traits;
    private bool _isClosed;
    private long _cleared;

    /// <summary>Makes a pool without keys.</summary>
    /// <param name="policy">How resources are made and looked after.</param>
    /// <param name="options">Sizes, times and the rest.</param>
    /// <exception cref="ArgumentNullException">One is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range; the message names it, its value and the range.</exception>
    public KeyedResourcePool(KeyedResourcePolicy<TKey, T> policy, KeyedResourcePoolOptions<TKey, T> options)
    {
        ArgumentNullException.ThrowIfNull(policy);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(options.PerKey);
        ResourceSettings settings = ResourceSettings.Of(options.PerKey);
        ResourceSettings.CheckSizes(0, options.MaxTotal, "0", nameof(options.MaxTotal), nameof(options));
        ResourceSettings.CheckSizes(0, options.MaxKeys, "0", nameof(options.MaxKeys), nameof(options));
        if (options.PerKey.MinSize > 0 || options.PerKey.MinIdle > 0)
        {
            throw new ArgumentOutOfRangeException(nameof(options), options.PerKey.MinSize, "MinSize and MinIdle of a keyed pool are 0: a key that needs nothing is forgotten.");
        }

        _policy = policy;
        _traits = policy.Traits;
        _options = options;
        _timeout = settings.RentTimeout;
        _cores = new ConcurrentDictionary<TKey, ResourceCore<T>>(options.Comparer);
        _shared = new ConcurrentDictionary<TKey, Task<SharedResource<T>>>(options.Comparer);
        _group = new ResourceGroup<T>(PoolName.Take(options.PerKey.Name, typeof(T).Name), options.MaxTotal, options.StealIdleAcrossKeys, options.PerKey.TimeProvider, Forget);
        ResourceMeter.Of(options.PerKey.MeterFactory, options.PerKey.MeterNames).Add(this);
    }

    /// <summary>The name in messages, events and metrics.</summary>
    public string Name => _group.PoolName.Text;

    /// <summary>The keys that have resources, or for which somebody waits: a copy.</summary>
    public IReadOnlyCollection<TKey> Keys => [.. _cores.Keys];

    /// <summary>Rents a resource of a key, and waits for it as long as <see cref="ResourcePoolOptions{T}.RentTimeout"/>.</summary>
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
            : RentAsync(key, _timeout, cancellationToken);
    }

    /// <summary>The same with a timeout of its own.</summary>
    /// <param name="key">The key.</param>
    /// <param name="timeout">Zero takes what is idle and needs no asynchronous validation, or fails at once; <see cref="Timeout.InfiniteTimeSpan"/> waits until the token is cancelled.</param>
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

    /// <summary>
    /// Rents a resource that many renters of the key use at the same time: the first one rents it, the others join, and when its lifetime is over
    /// or it was marked broken the next one gets a new one while the others keep theirs.
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
                // If nobody else wants what comes, it goes back.
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

    /// <summary>Ends every resource of a key that lives now, as <see cref="ResourcePool{T}.ClearAsync"/>. Other keys are not touched.</summary>
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

    /// <summary>Resources of all keys at one moment, those in creation and destruction included; at most <see cref="KeyedResourcePoolOptions{TKey, T}.MaxTotal"/>.</summary>
    public int GetTotal()
    {
        lock (_group.Gate)
        {
            return _group.Used;
        }
    }

    /// <summary>Ends the pool as <see cref="ResourcePool{T}.ShutdownAsync"/> does, for all keys with one time of grace.</summary>
    /// <param name="grace">How long to wait for leases.</param>
    /// <returns>True when everything is gone; false when leases were still out.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The grace is negative, or longer than a timer can wait.</exception>
    public async Task<bool> ShutdownAsync(TimeSpan grace)
    {
        ResourceSettings.Milliseconds(grace, nameof(grace), 0);
        ResourceCore<T>[] cores;
        lock (_group.Gate)
        {
            _isClosed = _group.IsClosing = true;
            cores = [.. _group.Cores];
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
        if (!await ResourceCore<T>.IsDoneWithin(Task.WhenAll(drained), grace, _group.Clock.Provider).ConfigureAwait(false))
        {
            return false;
        }

        await end.ConfigureAwait(false);
        return true;
    }

    /// <summary>Shuts down without grace.</summary>
    public async ValueTask DisposeAsync() => await ShutdownAsync(TimeSpan.Zero).ConfigureAwait(false);

    int IMeteredResources.Read(ResourceGauge gauge)
    {
        Deferred<T> work = default;
        int value;
        lock (_group.Gate)
        {
            value = gauge switch
            {
                ResourceGauge.Idle => _group.CountIdle(ref work),
                ResourceGauge.Used => _group.CountInUse(ref work),
                ResourceGauge.Waiting => _group.Cores.Sum(static c => c.Waiting),
                ResourceGauge.Max => _isClosed ? 0 : _options.MaxTotal,
                _ => 0,
            };
        }

        work.Run(_group.Timer);
        return value;
    }

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

    private async Task EndAsync(List<Task> ended)
    {
        await Task.WhenAll(ended).ConfigureAwait(false);
        _group.Timer.Dispose();
        _group.PoolName.Free();
    }

    private ValueTask<KeyedResourceLease<TKey, T>> RentAsync(TKey key, long timeout, CancellationToken cancellation)
    {
        ValueTask<ResourceLease<T>> rental = RentPlain(key, timeout, cancellation);
        return rental.IsCompletedSuccessfully
            ? new ValueTask<KeyedResourceLease<TKey, T>>(new KeyedResourceLease<TKey, T>(key, rental.Result))
            : Await(key, rental);
    }

    /// <summary>The rental without the key in its lease.</summary>
    internal ValueTask<ResourceLease<T>> RentPlain(TKey key, long timeout, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(key);
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<ResourceLease<T>>(cancellation);
        }

        while (true)
        {
            ResourceCore<T> core = Find(key);
            if (core.TryRentAsync(timeout, cancellation, out ValueTask<ResourceLease<T>> rental))
            {
                return rental;
            }

            // The key was forgotten in between: make it anew.
            _cores.TryRemove(new(key, core));
        }
    }

    private static async ValueTask<KeyedResourceLease<TKey, T>> Await(TKey key, ValueTask<ResourceLease<T>> rental) =>
        new(key, await rental.ConfigureAwait(false));

    /// <summary>The resource of a key that was returned last, if it lies in its hot place: then the key is one of the pool's.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ResourceSlot<T>? TakeHot(TKey key, CancellationToken cancellation) =>
        !cancellation.IsCancellationRequested && _cores.TryGetValue(key, out ResourceCore<T>? core) ? core.TakeHot() : null;

    private ResourceCore<T> Find(TKey key)
    {
        if (_cores.TryGetValue(key, out ResourceCore<T>? core))
        {
            if (core.GroupIndex < 0)
            {
                Admit(core, key);
            }

            return core;
        }

        int maxSize = Math.Min(_options.MaxSizeOf?.Invoke(key) ?? _options.PerKey.MaxSize, _options.MaxTotal);
        var made = new ResourceCore<T>(new KeyPolicy<TKey, T>(_policy, key, _traits), _options.PerKey.Copy(Name, maxSize), _group);
        core = _cores.GetOrAdd(key, made);
        Admit(core, key);
        return core;
    }

    /// <summary>Lets a new key in, in the place of an idle one where there are as many as there may be.</summary>
    private void Admit(ResourceCore<T> core, TKey key)
    {
        Deferred<T> work = default;
        PoolReport? refusal = null;
        bool isClosed;
        long now = _group.Clock.Now;
        lock (_group.Gate)
        {
            if (core.GroupIndex >= 0 || core.IsRemoved)
            {
                return; // another thread was here
            }

            isClosed = _isClosed;
            if (!isClosed && _group.Cores.Count >= _options.MaxKeys && !_group.TryGiveUpKey(now, ref work))
            {
                refusal = core.ReportNow(now);
            }

            if (isClosed || refusal is not null)
            {
                core.Remove();
                refusal ??= core.ReportNow(now);
            }
            else
            {
                _group.Add(core);
            }
        }

        work.Run(_group.Timer);
        if (refusal is not null)
        {
            _cores.TryRemove(new(key, core));
            throw isClosed ? new ResourcePoolShutdownException(refusal) : new ResourcePoolRejectedException(refusal, $"it has MaxKeys = {_options.MaxKeys} keys, and none is idle");
        }
    }

    private static void Leave(SharedResource<T> shared)
    {
        if (shared.TryJoin(out SharedLease<T> lease))
        {
            lease.Dispose();
        }
    }

    private void Forget(ResourceCore<T> core)
    {
        Interlocked.Increment(ref _cleared);
        try
        {
            _cores.TryRemove(new(((KeyPolicy<TKey, T>)core.Policy).Key, core));
        }
        catch (Exception e)
        {
            // The comparer threw, on whatever thread this is. The next rental of the key removes it.
            TidepoolEventSource.Log.PolicyFailed("Comparer", e.ToString(), Name, core.Key);
        }
    }

    private async Task ShareAsync(TKey key, TaskCompletionSource<SharedResource<T>> rental)
    {
        try
        {
            KeyedResourceLease<TKey, T> lease = await RentAsync(key, _timeout, CancellationToken.None).ConfigureAwait(false);
            rental.SetResult(new SharedResource<T>(lease.Lease, () => _shared.TryRemove(new(key, rental.Task))));
        }
        catch (Exception e)
        {
            try
            {
                _shared.TryRemove(new(key, rental.Task));
            }
            finally
            {
                rental.SetException(e);
            }
        }
    }
}
