using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// A bounded pool of resources that are slow to make: connections, clients, handles. Rent, use, return; at most so many at a time, first
/// come first served, checked, renewed and ended by the pool, which says why when it has none.
/// </summary>
/// <typeparam name="T">The resource.</typeparam>
/// <remarks>
/// <para>Thread-safe. Awaiting callers and parked threads stand in one queue. Renting an idle resource and returning it allocates nothing.
/// While nothing waits, the resource that was returned last is rented without a lock. Everything else takes the pool's one lock, which is
/// never held while the policy or a caller's continuation runs.</para>
/// <para>A pool that is dropped without being disposed is collected with its idle resources; what they hold is then up to their
/// finalizers.</para>
/// </remarks>
/// <example>
/// <code>
/// using System.Net.Sockets;
///
/// await using var clients = new ResourcePool&lt;TcpClient&gt;(new Clients("localhost", 7), new() { MaxSize = 8 });
///
/// using (ResourceLease&lt;TcpClient&gt; lease = await clients.RentAsync())
/// {
///     await lease.Value.GetStream().WriteAsync("hello"u8.ToArray());
/// }
///
/// sealed class Clients(string host, int port) : ResourcePolicy&lt;TcpClient&gt;
/// {
///     public override async ValueTask&lt;TcpClient&gt; CreateAsync(CancellationToken cancellationToken)
///     {
///         var client = new TcpClient();
///         await client.ConnectAsync(host, port, cancellationToken);
///         return client;
///     }
/// }
/// </code>
/// </example>
[DebuggerDisplay("{Name,nq}")]
public sealed class ResourcePool<T> : IAsyncDisposable, IDisposable
    where T : class
{
    private readonly ResourceCore<T> _core;
    private readonly long _timeout;

    /// <summary>Makes a pool.</summary>
    /// <remarks>
    /// Creates nothing yet, unless <see cref="ResourcePoolOptions.MinSize"/> or <see cref="ResourcePoolOptions.MinIdle"/> ask for it.
    /// </remarks>
    /// <param name="policy">How resources are made and looked after.</param>
    /// <param name="options">Sizes, times and the rest.</param>
    /// <exception cref="ArgumentNullException">One is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range; the message names it, its value and the
    /// range.</exception>
    public ResourcePool(ResourcePolicy<T> policy, ResourcePoolOptions options)
    {
        ArgumentNullException.ThrowIfNull(policy);
        ArgumentNullException.ThrowIfNull(options);
        var settings = new ResourceSettings(options);
        _core = new ResourceCore<T>(policy, settings);
        _timeout = settings.RentTimeout;
    }

    /// <summary>The name in messages, events and metrics.</summary>
    public string Name => _core.Name;

    internal ResourceCore<T> Core => _core;

    /// <summary>Rents a resource, and waits for it as long as <see cref="ResourcePoolOptions.RentTimeout"/>.</summary>
    /// <param name="cancellationToken">Ends the wait. A creation that was begun for it goes on and serves another rental.</param>
    /// <returns>The lease; dispose it. Await it once, as every <see cref="ValueTask{T}"/>.</returns>
    /// <exception cref="ResourcePoolTimeoutException">None came free in time.</exception>
    /// <exception cref="ResourcePoolRejectedException">As many as may wait were waiting.</exception>
    /// <exception cref="ResourceCreateException">The creation that this rental waited for failed.</exception>
    /// <exception cref="ResourcePoolShutdownException">The pool was shut down.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask<ResourceLease<T>> RentAsync(CancellationToken cancellationToken = default)
    {
        if (!cancellationToken.IsCancellationRequested && _core.TakeHot() is { } slot)
        {
            return new ValueTask<ResourceLease<T>>(new ResourceLease<T>(slot, slot.Version));
        }

        _core.TryRentAsync(_timeout, cancellationToken, out ValueTask<ResourceLease<T>> lease);
        return lease;
    }

    /// <summary>
    /// Rents a resource, and waits for it as long as <paramref name="timeout"/>: the wait in the queue, creation and validation included.
    /// </summary>
    /// <param name="timeout">Zero takes what <see cref="TryRent"/> would, or fails at once; <see cref="Timeout.InfiniteTimeSpan"/> waits
    /// until the token is cancelled.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The lease; dispose it.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative, or longer than a timer can wait.</exception>
    /// <exception cref="ResourcePoolException">No resource: the type says why.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask<ResourceLease<T>> RentAsync(TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        ResourceSettings.Check(timeout);
        if (!cancellationToken.IsCancellationRequested && _core.TakeHot() is { } slot)
        {
            return new ValueTask<ResourceLease<T>>(new ResourceLease<T>(slot, slot.Version));
        }

        long milliseconds = ResourceSettings.Milliseconds(timeout, nameof(timeout), 0);
        _core.TryRentAsync(milliseconds, cancellationToken, out ValueTask<ResourceLease<T>> lease);
        return lease;
    }

    /// <summary>Rents a resource on the calling thread; waits up to <see cref="ResourcePoolOptions.RentTimeout"/>.</summary>
    /// <remarks>
    /// The calling thread is parked, in the same queue, and creates and validates by itself where that is needed
    /// (<see cref="ResourcePolicy{T}.Create"/>, <see cref="ResourcePolicy{T}.Validate"/>), so it needs no thread of the thread pool.
    /// </remarks>
    /// <param name="cancellationToken">Ends the wait, and a creation on this thread.</param>
    /// <returns>The lease; dispose it.</returns>
    /// <exception cref="ResourcePoolException">No resource: the type says why.</exception>
    /// <exception cref="NotSupportedException">A resource had to be created, and the policy creates only asynchronously.</exception>
    /// <exception cref="ThreadInterruptedException">The parked thread was interrupted.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ResourceLease<T> Rent(CancellationToken cancellationToken = default)
    {
        if (!cancellationToken.IsCancellationRequested && _core.TakeHot() is { } slot)
        {
            return new ResourceLease<T>(slot, slot.Version);
        }

        _core.TryRent(_timeout, cancellationToken, out ResourceLease<T> lease);
        return lease;
    }

    /// <summary>Rents a resource on the calling thread; waits up to <paramref name="timeout"/>.</summary>
    /// <remarks>
    /// The calling thread is parked, in the same queue, and creates and validates by itself where that is needed
    /// (<see cref="ResourcePolicy{T}.Create"/>, <see cref="ResourcePolicy{T}.Validate"/>), so it needs no thread of the thread pool.
    /// </remarks>
    /// <param name="timeout">Zero takes what <see cref="TryRent"/> would, or fails at once; <see cref="Timeout.InfiniteTimeSpan"/> waits
    /// until the token is cancelled.</param>
    /// <param name="cancellationToken">Ends the wait, and a creation on this thread.</param>
    /// <returns>The lease; dispose it.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative, or longer than a timer can wait.</exception>
    /// <exception cref="ResourcePoolException">No resource: the type says why.</exception>
    /// <exception cref="NotSupportedException">A resource had to be created, and the policy creates only asynchronously.</exception>
    /// <exception cref="ThreadInterruptedException">The parked thread was interrupted.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ResourceLease<T> Rent(TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        ResourceSettings.Check(timeout);
        if (!cancellationToken.IsCancellationRequested && _core.TakeHot() is { } slot)
        {
            return new ResourceLease<T>(slot, slot.Version);
        }

        _core.TryRent(ResourceSettings.Milliseconds(timeout, nameof(timeout), 0), cancellationToken, out ResourceLease<T> lease);
        return lease;
    }

    /// <summary>
    /// Rents an idle resource. Never creates and never waits; fails while others wait, and when the resource can be validated only
    /// asynchronously.
    /// </summary>
    /// <param name="lease">The lease, or <c>default</c>.</param>
    /// <returns>Whether there was one.</returns>
    /// <exception cref="ResourcePoolShutdownException">The pool was shut down.</exception>
    public bool TryRent(out ResourceLease<T> lease) => _core.TryRentIdle(out lease);

    /// <summary>Grows the pool to so many resources, at most <see cref="ResourcePoolOptions.MaxCreateConcurrency"/> at a time.</summary>
    /// <remarks>After a failed creation it waits for the next attempt, as a rental does; <see cref="ClearAsync"/> begins it at
    /// once.</remarks>
    /// <param name="count">How many, 0 to the largest size.</param>
    /// <param name="cancellationToken">Ends the waiting, not the creations.</param>
    /// <returns>Ends when the pool has that many, or is full because it was made smaller meanwhile.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative or beyond the largest size.</exception>
    /// <exception cref="ResourceCreateException">A creation failed.</exception>
    /// <exception cref="ResourcePoolShutdownException">The pool was shut down.</exception>
    public Task WarmUpAsync(int count, CancellationToken cancellationToken = default) => _core.WarmUpAsync(count, cancellationToken);

    /// <summary>
    /// Ends every resource that lives now: idle ones at once, leased ones when they are returned. A creation under way is not failed; what
    /// it makes is destroyed, and made again if a caller waits. Nothing made before this call is rented after it. Failed creations are
    /// forgotten: the next one begins at once, also after a failure that lasts.
    /// </summary>
    /// <returns>Ends when the idle ones are gone.</returns>
    /// <exception cref="ResourcePoolShutdownException">The pool was shut down.</exception>
    public Task ClearAsync() => _core.ClearAsync();

    /// <summary>
    /// Like <see cref="ClearAsync"/>, spread over a time: each resource that lives now gets an end of life of its own within it.
    /// </summary>
    /// <param name="over">The interval, 1 ms or more.</param>
    /// <returns>Ends with the interval. Resources that are still leased then are destroyed on return.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The interval is not positive, or infinite.</exception>
    /// <exception cref="ResourcePoolShutdownException">The pool was shut down.</exception>
    public Task RenewAsync(TimeSpan over) => _core.RenewAsync(over);

    /// <summary>
    /// Changes the sizes. Waiting rentals profit at once from a larger one; for a smaller one idle resources end at once and leased ones
    /// when they are returned.
    /// </summary>
    /// <param name="min">The smallest size, 0 to <paramref name="max"/>.</param>
    /// <param name="max">The largest size, 1 or more.</param>
    /// <exception cref="ArgumentOutOfRangeException">One is out of its range; nothing has changed.</exception>
    /// <exception cref="ResourcePoolShutdownException">The pool was shut down.</exception>
    public void Resize(int min, int max) => _core.Resize(min, max);

    /// <summary>The pool's counters at one moment. Takes the pool's lock.</summary>
    public ResourcePoolStatistics GetStatistics() => _core.GetStatistics();

    /// <summary>
    /// Ends the pool: rentals fail from now on, those that wait fail at once, idle resources end, and leases have a time of grace. What is
    /// returned later is destroyed then. May be called again, also from inside a lease.
    /// </summary>
    /// <param name="grace">How long to wait for leases; zero does not wait, <see cref="Timeout.InfiniteTimeSpan"/> waits for all of
    /// them.</param>
    /// <returns>True when everything is gone: no resource lives and no timer runs. False when leases were still out at the end of the
    /// grace.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The grace is negative, or longer than a timer can wait.</exception>
    public Task<bool> ShutdownAsync(TimeSpan grace)
    {
        ResourceSettings.Milliseconds(grace, nameof(grace), 0);
        return _core.ShutdownAsync(grace);
    }

    /// <summary>Shuts down without grace and without waiting: idle resources end in the background, leased ones when they come
    /// back.</summary>
    public void Dispose() => _core.Close(out _, out _);

    /// <summary>Shuts down without grace. Waits for idle resources to end unless leases are out; those end when they come back.</summary>
    public async ValueTask DisposeAsync() => await _core.ShutdownAsync(TimeSpan.Zero).ConfigureAwait(false);

    /// <summary>Checks the pool's invariants.</summary>
    internal void Validate() => _core.Validate();
}

/// <summary>Makes pools of resources from functions.</summary>
public static class ResourcePool
{
    /// <summary>Makes a pool from a function that creates resources.</summary>
    /// <typeparam name="T">The resource.</typeparam>
    /// <param name="create">Makes a resource that is ready for use; see <see cref="ResourcePolicy{T}.CreateAsync"/>.</param>
    /// <param name="options">Sizes, times and the rest.</param>
    /// <param name="validate">Whether a resource that was idle still works; null never asks.</param>
    /// <param name="reset">Makes a returned resource as good as new, or says false: then it is destroyed. Null does nothing.</param>
    /// <returns>The pool. What it creates is disposed at its end, where it is disposable.</returns>
    /// <remarks>
    /// It creates only for callers that await. A pool for <see cref="ResourcePool{T}.Rent(CancellationToken)"/>, or with more to say,
    /// needs a class that derives from <see cref="ResourcePolicy{T}"/>.
    /// </remarks>
    /// <exception cref="ArgumentNullException"><paramref name="create"/> or <paramref name="options"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range; the message names it, its value and the
    /// range.</exception>
    public static ResourcePool<T> Create<T>(
        Func<CancellationToken, Task<T>> create,
        ResourcePoolOptions options,
        Func<T, CancellationToken, ValueTask<bool>>? validate = null,
        Func<T, CancellationToken, ValueTask<bool>>? reset = null)
        where T : class => new(ResourcePolicy.From(create, validate, reset), options);
}
