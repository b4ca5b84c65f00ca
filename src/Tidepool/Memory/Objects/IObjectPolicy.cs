namespace Tidepool;

/// <summary>
/// How the objects of a pool are made, made as good as new, and destroyed. Implement it as a struct: the pool's code is then made for it.
/// </summary>
/// <typeparam name="T">The kind of object.</typeparam>
/// <remarks>
/// <para>The pool keeps one copy of the struct and calls it from any thread, several at a time; state that changes belongs behind a
/// reference and needs its own protection. Each object is in one call at a time. The pool holds no lock during a call, so a policy may
/// use this pool and others.</para>
/// <para>Implement <see cref="IValidatingObjectPolicy{T}"/> to look at idle objects before they are rented again.</para>
/// </remarks>
public interface IObjectPolicy<T>
    where T : class
{
    /// <summary>
    /// Makes an object, for a renter that no idle one can serve. What it throws goes to that renter; the pool is unchanged.
    /// </summary>
    /// <returns>The new object, not null.</returns>
    T Create();

    /// <summary>
    /// Makes a returned object as good as new, on the thread that returns it and after the rental has ended. What it throws goes to the
    /// caller that returns, after the object was destroyed.
    /// </summary>
    /// <param name="item">The object; only the calling thread has it.</param>
    /// <returns>False when it shall not be used again: then it is destroyed.</returns>
    bool TryReset(T item);

    /// <summary>
    /// Ends an object that leaves the pool for good, on any thread: it was not reset, the budget is used up, it was trimmed, or the pool
    /// was disposed. What it throws is counted (<see cref="PoolStatistics.Failures"/>), written to the event source and goes no further.
    /// </summary>
    /// <param name="item">The object; only the calling thread has it.</param>
    void Destroy(T item);
}
