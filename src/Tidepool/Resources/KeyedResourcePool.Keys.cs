using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>Keys: how they are found, let in and forgotten.</content>
public sealed partial class KeyedResourcePool<TKey, T>
{
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
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<ResourceLease<T>>(cancellation);
        }

        while (true)
        {
            ResourceCore<T> core;
            try
            {
                core = Find(key);
            }
            catch (Exception e)
            {
                return ValueTask.FromException<ResourceLease<T>>(e); // told where all other failures of a rental are
            }

            if (core.TryRentAsync(timeout, cancellation, out ValueTask<ResourceLease<T>> rental))
            {
                return rental;
            }

            // The key was forgotten in between: make it anew.
            _cores.TryRemove(new(key, core));
        }
    }

    /// <summary>Rents for a caller whose thread is parked.</summary>
    internal ResourceLease<T> RentParked(TKey key, long timeout, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        while (true)
        {
            ResourceCore<T> core = Find(key);
            if (core.TryRent(timeout, cancellation, out ResourceLease<T> lease))
            {
                return lease;
            }

            // The key was forgotten in between: make it anew.
            _cores.TryRemove(new(key, core));
        }
    }

    private static async ValueTask<KeyedResourceLease<TKey, T>> Await(TKey key, ValueTask<ResourceLease<T>> rental) =>
        new(key, await rental.ConfigureAwait(false));

    /// <summary>The resource of a key that was returned last, if it is in its hot slot: then the key is one of the pool's.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ResourceSlot<T>? TakeHot(TKey key, CancellationToken cancellation) =>
        !cancellation.IsCancellationRequested && _cores.TryGetValue(key, out ResourceCore<T>? core) ? core.TakeHot() : null;

    private ResourceCore<T> Find(TKey key)
    {
        if (_cores.TryGetValue(key, out ResourceCore<T>? core))
        {
            if (core.State.GroupIndex < 0)
            {
                Admit(core, key);
            }

            return core;
        }

        core = _cores.GetOrAdd(key, NewCore(key));
        Admit(core, key);
        return core;
    }

    /// <summary>Asks the program how a new key is to be pooled; the pool does not have it yet.</summary>
    private ResourceCore<T> NewCore(TKey key)
    {
        ThrowIfClosed(key);
        int maxSize = _options.MaxSizeOf?.Invoke(key) ?? _perKey.MaxSize;
        if (maxSize < 1)
        {
            throw new InvalidOperationException(
                $"MaxSizeOf gives {maxSize} for the key '{PoolName.KeyText(key)}'; allowed is 1 or more, or null.");
        }

        ResourcePolicy<T> policy = _policy(key)
            ?? throw new InvalidOperationException($"The policy for the key '{PoolName.KeyText(key)}' is null.");
        return new ResourceCore<T>(policy, _perKey, Math.Min(maxSize, _options.MaxTotal), _group, key);
    }

    /// <summary>Refuses a new key after a shutdown: the program is not asked any more, because what it would use may be gone.</summary>
    private void ThrowIfClosed(TKey key)
    {
        if (!Volatile.Read(ref _isClosed))
        {
            return; // else Admit refuses the key
        }

        throw new ResourcePoolShutdownException(new PoolReport
        {
            Name = Name,
            Key = PoolName.KeyText(key),
            Statistics = default,
        });
    }

    /// <summary>Lets a new key in, in the place of an idle one where there are as many as there may be.</summary>
    private void Admit(ResourceCore<T> core, TKey key)
    {
        PoolReport? refusal = null;
        bool isClosed;
        using (PoolSection<T> section = _group.Gate.Enter())
        {
            if (core.State.GroupIndex >= 0 || core.State.IsRemoved)
            {
                return; // another thread was here
            }

            isClosed = _isClosed;
            if (!isClosed && _group.Pools.Count >= _options.MaxKeys && !_group.TryGiveUpKey(section))
            {
                refusal = core.State.Report(section);
            }

            if (isClosed || refusal is not null)
            {
                core.State.Remove(section);
                refusal ??= core.State.Report(section);
            }
            else
            {
                _group.Add(core.State);
            }
        }

        if (refusal is not null)
        {
            _cores.TryRemove(new(key, core));
            throw isClosed
                ? new ResourcePoolShutdownException(refusal)
                : new ResourcePoolRejectedException(refusal, $"it has MaxKeys = {_options.MaxKeys} keys, and none is idle");
        }
    }

    private static void Leave(SharedResource<T> shared)
    {
        if (shared.TryJoin(out SharedLease<T> lease))
        {
            lease.Dispose();
        }
    }

    private void RemoveKey(ResourceCore<T> core)
    {
        Interlocked.Increment(ref _cleared);
        try
        {
            _cores.TryRemove(new((TKey)core.KeyValue!, core));
        }
        catch (Exception e)
        {
            // The comparer threw, on whatever thread this is. The next rental of the key removes it.
            TidepoolEventSource.Log.PolicyFailed("Comparer", e, Name, core.Key);
        }
    }

    private async Task ShareAsync(TKey key, TaskCompletionSource<SharedResource<T>> rental)
    {
        try
        {
            KeyedResourceLease<TKey, T> lease = await RentAsync(key, _perKey.RentTimeout, CancellationToken.None).ConfigureAwait(false);
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
