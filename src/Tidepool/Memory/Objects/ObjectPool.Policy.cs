using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A pool of objects with a policy as a struct, for which the compiler makes code of its own: no call of a delegate or an interface is
/// left.
/// </summary>
/// <typeparam name="T">The kind of object.</typeparam>
/// <typeparam name="TPolicy">How objects are made, reset, validated and destroyed.</typeparam>
/// <remarks>
/// Short names for the usual policies: <see cref="SimpleObjectPool{T}"/>, <see cref="FactoryObjectPool{T}"/>,
/// <see cref="StringBuilderPool"/>.
/// </remarks>
public class ObjectPool<T, TPolicy> : ObjectPool<T>
    where T : class
    where TPolicy : struct, IObjectPolicy<T>
{
    private readonly ObjectCore<T, TPolicy> _core;

    /// <summary>Makes a pool.</summary>
    /// <param name="policy">How objects are made, reset, validated and destroyed. The pool keeps its own copy.</param>
    /// <param name="options">What else it is made of; null for all defaults.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    public ObjectPool(TPolicy policy = default, ObjectPoolOptions? options = null)
    {
        options ??= new ObjectPoolOptions();
        ObjectPoolOptions.Check(options);
        _core = new ObjectCore<T, TPolicy>(policy, options);
    }

    /// <summary>Destroys the idle objects of a pool without references.</summary>
    ~ObjectPool() => Dispose(disposing: false);

    /// <inheritdoc/>
    public sealed override string Name => _core.Name;

    /// <inheritdoc/>
    public sealed override PoolChecks Checks => _core.Checks;

    internal ObjectCore<T, TPolicy> Core => _core;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public sealed override ObjectLease<T> Rent()
    {
        PooledObject<T, TPolicy> slot = ThreadTier.Find(_core.LeaseId) is { } magazine && magazine.TryPopLast() is { } item
            ? Unsafe.As<PooledObject<T, TPolicy>>(item)
            : RentSlow();
        return new ObjectLease<T>(slot, slot.Begin());
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public sealed override T RentRaw() =>
        ThreadTier.Find(_core.RawId) is { } magazine && magazine.TryPopLast() is { } item ? Unsafe.As<T>(item) : RentRawSlow();

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public sealed override void ReturnRaw(T item)
    {
        // The magazine stays this thread's while the policy runs; closed in between, it refuses the item.
        ObjectCore<T, TPolicy> core = _core;
        if (item is not null && ThreadTier.Find(core.RawId) is { } magazine)
        {
            if (core.ResetRaw(item) && !magazine.TryPushLast(item, hasTicket: false))
            {
                core.KeepRaw(item);
            }

            return;
        }

        core.ReturnRaw(item!);
    }

    /// <inheritdoc/>
    public sealed override void Trim()
    {
        ThreadTier.ReapDead();
        Trimmer.TrimNow(_core);
        GC.KeepAlive(this);
    }

    /// <inheritdoc/>
    public sealed override PoolStatistics GetStatistics() => _core.GetStatistics();

    /// <inheritdoc/>
    public sealed override void Validate() => _core.Validate();

    /// <inheritdoc/>
    protected override void Dispose(bool disposing) => _core?.Retire();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private PooledObject<T, TPolicy> RentSlow()
    {
        PooledObject<T, TPolicy> slot = _core.RentSlot();
        GC.KeepAlive(this); // a pool that is being rented from is not collected
        return slot;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private T RentRawSlow()
    {
        T item = _core.RentRaw();
        GC.KeepAlive(this);
        return item;
    }
}
