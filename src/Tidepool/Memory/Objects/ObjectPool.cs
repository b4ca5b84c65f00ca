using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// A pool of objects: rent, use, return. Scales with threads, is bounded by default, gives idle objects up by itself, and detects misuse of
/// leases in Release builds. This is what a renter sees; <see cref="ObjectPool{T, TPolicy}"/> is what there is behind it.
/// </summary>
/// <typeparam name="T">The kind of object.</typeparam>
/// <remarks>
/// Thread-safe. A rental takes, in this order: the newest object that this thread holds (no locked instruction), the shared tier (one
/// lock per up to 64 objects), a new one from the policy. See <c>docs/design/objects.md</c> for one rent and one return step by step.
/// </remarks>
/// <example>
/// <code>
/// using var parsers = ObjectPool&lt;List&lt;int&gt;&gt;.Create(static () =&gt; [], static list =&gt; { list.Clear(); return true; });
/// using ObjectLease&lt;List&lt;int&gt;&gt; lease = parsers.Rent();
/// lease.Value.Add(1);                        // the end of the scope resets and returns it
/// </code>
/// </example>
[DebuggerDisplay("{Name,nq}")]
public abstract class ObjectPool<T> : IDisposable
    where T : class
{
    private protected ObjectPool()
    {
    }

    /// <summary>The name in messages, events and metrics.</summary>
    public abstract string Name { get; }

    /// <summary>How much the pool checks.</summary>
    public abstract PoolChecks Checks { get; }

    /// <summary>Makes a pool from functions, which must be thread-safe.</summary>
    /// <param name="create">Makes an object.</param>
    /// <param name="reset">Makes a returned object as good as new, or says false: then it is destroyed. Null resets objects that
    /// implement <see cref="IResettable"/>.</param>
    /// <param name="options">What else it is made of; null for all defaults.</param>
    /// <exception cref="ArgumentNullException"><paramref name="create"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    public static ObjectPool<T> Create(Func<T> create, Func<T, bool>? reset = null, ObjectPoolOptions? options = null) =>
        new FactoryObjectPool<T>(create, reset, options);

    /// <summary>Rents an object under a lease: the safe way.</summary>
    /// <returns>A lease; dispose it to return the object.</returns>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    /// <remarks>Allocates nothing on a hit. What the policy throws when it makes an object goes to the caller.</remarks>
    public abstract ObjectLease<T> Rent();

    /// <summary>
    /// Rents the object itself: the fastest way, and the one for code that keeps the object where no lease fits. Nothing but the caller's
    /// care returns it once.
    /// </summary>
    /// <returns>The object; give it to <see cref="ReturnRaw"/>, on any thread, or keep it for good.</returns>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    /// <remarks>Allocates nothing on a hit. What the policy throws when it makes an object goes to the caller.</remarks>
    public abstract T RentRaw();

    /// <summary>Returns an object that was rented with <see cref="RentRaw"/>: it is reset and waits for its next renter.</summary>
    /// <param name="item">The object.</param>
    /// <exception cref="ArgumentNullException"><paramref name="item"/> is null.</exception>
    /// <exception cref="PoolMisuseException">
    /// The object lies in this thread's tier already (not with checks off). In full checks: it was returned before, or is not one of this
    /// pool.
    /// </exception>
    /// <remarks>What resetting the object throws goes to the caller; the rental has ended then, and the object was destroyed.</remarks>
    public abstract void ReturnRaw(T item);

    /// <summary>Destroys every idle object now, those of other threads included. Takes a process-wide barrier and a lock.</summary>
    public abstract void Trim();

    /// <summary>What the pool has done and holds. Walks all threads' magazines under a lock: for dashboards, not for loops.</summary>
    public abstract PoolStatistics GetStatistics();

    /// <summary>Checks every invariant of the tiers. For tests: call it while no thread rents or returns.</summary>
    /// <exception cref="InvalidOperationException">An invariant is broken; the message names it.</exception>
    public abstract void Validate();

    /// <summary>
    /// Ends the pool: idle objects are destroyed. Those that are out stay usable, and are destroyed when they are returned.
    /// </summary>
    public void Dispose()
    {
        Dispose(disposing: true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Ends the pool.</summary>
    /// <param name="disposing">False when the collector ends a pool without references.</param>
    protected abstract void Dispose(bool disposing);
}
