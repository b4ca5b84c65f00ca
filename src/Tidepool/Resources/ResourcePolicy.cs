using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// How resources of one kind are made, looked after and ended. A pool calls it; derive from it and override what the resource needs.
/// </summary>
/// <typeparam name="T">The resource.</typeparam>
/// <remarks>
/// <para>The pool calls it from many threads at once, but never for one resource at the same time, and never while it holds a lock. An
/// exception ends the resource or fails the rental that needed it; it never reaches a caller that has nothing to do with it.</para>
/// <para>The tokens belong to the pool, not to a renter: they are cancelled when the operation takes longer than it may, or when the pool
/// is shut down. The place of a resource whose operation ignores that is given up; the pool destroys what the operation leaves when it
/// returns.</para>
/// <para>A <see cref="KeyedResourcePool{TKey, T}"/> asks for the policy of each key: it may know its key, or serve all of them.</para>
/// </remarks>
public abstract class ResourcePolicy<T>
    where T : class
{
    private static readonly ConditionalWeakTable<Type, object> Known = [];

    /// <summary>Which of these methods do something: looked up once for each type, because a keyed pool may have many policies.</summary>
    internal virtual PolicyTraits Traits
    {
        get
        {
            if (!Known.TryGetValue(GetType(), out object? traits))
            {
                traits = PolicyTraits.Of(
                    typeof(ResourcePolicy<T>),
                    (Func<CancellationToken, T>)Create,
                    (Func<T, bool>)IsBroken,
                    [(Func<T, bool?>)Validate, (Func<T, CancellationToken, ValueTask<bool>>)ValidateAsync],
                    [(Func<T, bool?>)Reset, (Func<T, CancellationToken, ValueTask<bool>>)ResetAsync]);
                Known.AddOrUpdate(GetType(), traits);
            }

            return (PolicyTraits)traits;
        }
    }

    /// <summary>
    /// Makes a resource that is ready for use. Runs on a thread of the thread pool, without the renter's execution context.
    /// </summary>
    /// <param name="cancellationToken">Cancelled after <see cref="ResourcePoolOptions.CreateTimeout"/>, or by the shutdown.</param>
    /// <returns>The resource, not null.</returns>
    public abstract ValueTask<T> CreateAsync(CancellationToken cancellationToken);

    /// <summary>Makes a resource on the thread that called <see cref="ResourcePool{T}.Rent(CancellationToken)"/>.</summary>
    /// <remarks>The default throws: the pool never blocks on asynchronous code.</remarks>
    /// <param name="cancellationToken">Cancelled also by the renter's token and timeout, because its thread is the one that works.</param>
    /// <returns>The resource, not null.</returns>
    /// <exception cref="NotSupportedException">The policy creates only asynchronously.</exception>
    public virtual T Create(CancellationToken cancellationToken) =>
        throw new NotSupportedException(
            $"{GetType()} creates only asynchronously. Override Create for Rent, use RentAsync, or warm the pool up.");

    /// <summary>
    /// Whether a failed creation will fail again until a person changes something outside of the program: a wrong password, a certificate
    /// that ran out. Rentals for which the pool would have to create are then refused at once with the last failure, and one attempt is
    /// made in each step of the backoff; resources that live go on serving. The default says no: the others wait for the next attempt.
    /// </summary>
    /// <param name="failure">What <see cref="CreateAsync"/> or <see cref="Create"/> threw.</param>
    public virtual bool IsPermanent(Exception failure) => false;

    /// <summary>
    /// Whether the resource is known to be broken. Called on return and before it is handed out; must be quick and do no I/O. The default
    /// says no.
    /// </summary>
    /// <remarks>Asked of one that is shared (<see cref="KeyedResourcePool{TKey, T}.RentSharedAsync"/>) also while it is used.</remarks>
    /// <param name="resource">The resource.</param>
    public virtual bool IsBroken(T resource) => false;

    /// <summary>
    /// Whether the resource still works; may do I/O. Called before a renter gets a resource that was idle for longer than
    /// <see cref="ResourcePoolOptions.ValidateAfterIdle"/>. It begins on the renting thread. The default asks <see cref="Validate"/>.
    /// </summary>
    /// <param name="resource">The resource.</param>
    /// <param name="cancellationToken">Cancelled after <see cref="ResourcePoolOptions.PolicyTimeout"/>, or by the shutdown.</param>
    public virtual ValueTask<bool> ValidateAsync(T resource, CancellationToken cancellationToken) => new(Validate(resource) ?? true);

    /// <summary>Whether the resource still works, asked on the renter's own thread.</summary>
    /// <remarks>That of <see cref="ResourcePool{T}.Rent(CancellationToken)"/> or <see cref="ResourcePool{T}.TryRent"/>.</remarks>
    /// <param name="resource">The resource.</param>
    /// <returns>Null, the default, where there is no synchronous way: then <see cref="ValidateAsync"/> runs, and the renter waits for
    /// it.</returns>
    public virtual bool? Validate(T resource) => null;

    /// <summary>
    /// Makes the resource as good as new for the next renter; see <see cref="ResetMode"/> for when. The default calls <see cref="Reset"/>.
    /// </summary>
    /// <param name="resource">The resource.</param>
    /// <param name="cancellationToken">Cancelled after <see cref="ResourcePoolOptions.PolicyTimeout"/>, or by the shutdown.</param>
    /// <returns>False when that did not succeed: the pool destroys the resource.</returns>
    public virtual ValueTask<bool> ResetAsync(T resource, CancellationToken cancellationToken) => new(Reset(resource) ?? true);

    /// <summary>Makes the resource as good as new on the calling thread.</summary>
    /// <remarks>
    /// For <c>Dispose</c> of a lease in <see cref="ResetMode.OnReturn"/>, for <see cref="ResourcePool{T}.Rent(CancellationToken)"/> in
    /// <see cref="ResetMode.OnRent"/>, and for both in <see cref="ResetMode.Background"/>.
    /// </remarks>
    /// <param name="resource">The resource.</param>
    /// <returns>Null, the default, where there is no synchronous way: then <see cref="ResetAsync"/> runs in the background.</returns>
    public virtual bool? Reset(T resource) => null;

    /// <summary>Keeps an idle resource alive, every <see cref="ResourcePoolOptions.KeepAliveInterval"/>.</summary>
    /// <remarks>An exception ends the resource. The default does nothing.</remarks>
    /// <param name="resource">The resource.</param>
    /// <param name="cancellationToken">Cancelled after <see cref="ResourcePoolOptions.PolicyTimeout"/>, or by the shutdown.</param>
    public virtual ValueTask KeepAliveAsync(T resource, CancellationToken cancellationToken) => default;

    /// <summary>
    /// Whether a reset that has succeeded is done only with the next use of the resource, or when it is kept alive. Asked where
    /// <see cref="PolicyTraits.ResetsLater"/> says so, after a reset or <see cref="KeepAliveAsync"/>; quick, and never throws.
    /// </summary>
    internal virtual bool HasResetPending(T resource) => false;

    /// <summary>
    /// Ends a resource; called once for each, on a thread of the thread pool or that of a renter who waits for the place. The default
    /// disposes it when it is disposable. Exceptions are counted, reported to the event source <c>Tidepool</c>, and go nowhere else.
    /// </summary>
    /// <param name="resource">The resource.</param>
    /// <param name="reason">Why.</param>
    public virtual ValueTask DestroyAsync(T resource, DestroyReason reason)
    {
        switch (resource)
        {
            case IAsyncDisposable asynchronous:
                return asynchronous.DisposeAsync();
            case IDisposable disposable:
                disposable.Dispose();
                break;
        }

        return default;
    }
}

/// <summary>What a policy has methods of its own for; asked once for each pool, so that it does not call those that do nothing.</summary>
/// <param name="CreatesInline">A thread that waits may create.</param>
/// <param name="LooksForBroken">It may call a resource broken.</param>
/// <param name="Validates">It can ask whether a resource works.</param>
/// <param name="Resets">It resets.</param>
/// <param name="WaitsInReset">Its two resets are different ones: the asynchronous one may end on another thread than it began.</param>
internal readonly record struct PolicyTraits(bool CreatesInline, bool LooksForBroken, bool Validates, bool Resets, bool WaitsInReset)
{
    /// <summary>A reset may be done only with the next use of the resource.</summary>
    public bool ResetsLater { get; init; }

    /// <summary>Looks which methods are overridden.</summary>
    /// <param name="policy">The base class, whose own methods do nothing.</param>
    /// <param name="create">The synchronous creation.</param>
    /// <param name="isBroken">The quick look.</param>
    /// <param name="validations">Both validations.</param>
    /// <param name="resets">Both resets.</param>
    internal static PolicyTraits Of(Type policy, Delegate create, Delegate isBroken, Delegate[] validations, Delegate[] resets)
    {
        return new(
            IsOwn(create),
            IsOwn(isBroken),
            Array.Exists(validations, IsOwn),
            Array.Exists(resets, IsOwn),
            Array.TrueForAll(resets, IsOwn));

        bool IsOwn(Delegate method) => method.Method.DeclaringType != policy;
    }
}

/// <summary>Makes policies of resources from functions.</summary>
public static class ResourcePolicy
{
    /// <summary>Makes a policy from a function that creates resources, as <see cref="ResourcePool.Create"/> does.</summary>
    /// <typeparam name="T">The resource.</typeparam>
    /// <param name="create">Makes a resource that is ready for use; see <see cref="ResourcePolicy{T}.CreateAsync"/>.</param>
    /// <param name="validate">Whether a resource that was idle still works; null never asks.</param>
    /// <param name="reset">Makes a returned resource as good as new, or says false: then it is destroyed. Null does nothing.</param>
    /// <exception cref="ArgumentNullException"><paramref name="create"/> is null.</exception>
    public static ResourcePolicy<T> From<T>(
        Func<CancellationToken, Task<T>> create,
        Func<T, CancellationToken, ValueTask<bool>>? validate = null,
        Func<T, CancellationToken, ValueTask<bool>>? reset = null)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(create);
        return new FactoryResourcePolicy<T>(create, validate, reset);
    }
}

/// <summary>Calls functions of the program.</summary>
internal sealed class FactoryResourcePolicy<T>(
    Func<CancellationToken, Task<T>> create,
    Func<T, CancellationToken, ValueTask<bool>>? validate,
    Func<T, CancellationToken, ValueTask<bool>>? reset) : ResourcePolicy<T>
    where T : class
{
    /// <summary>What it overrides says nothing: the functions may be missing.</summary>
    internal override PolicyTraits Traits { get; } = new(
        CreatesInline: false, LooksForBroken: false, Validates: validate is not null, Resets: reset is not null, WaitsInReset: false);

    public override ValueTask<T> CreateAsync(CancellationToken cancellationToken) => new(create(cancellationToken));

    public override T Create(CancellationToken cancellationToken) => throw new NotSupportedException(
        "This pool was made from a function, which creates only asynchronously. Use RentAsync, warm the pool up, or derive a policy "
        + $"from {nameof(ResourcePolicy<>)}<{typeof(T).Name}> that overrides {nameof(Create)}.");

    public override ValueTask<bool> ValidateAsync(T resource, CancellationToken cancellationToken) =>
        validate is null ? new(true) : validate(resource, cancellationToken);

    public override ValueTask<bool> ResetAsync(T resource, CancellationToken cancellationToken) =>
        reset is null ? new(true) : reset(resource, cancellationToken);
}
