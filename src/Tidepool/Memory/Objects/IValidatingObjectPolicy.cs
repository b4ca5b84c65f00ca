namespace Tidepool;

/// <summary>A policy that looks at idle objects before they are rented again. It costs each rental an interface call.</summary>
/// <typeparam name="T">The kind of object.</typeparam>
public interface IValidatingObjectPolicy<T> : IObjectPolicy<T>
    where T : class
{
    /// <summary>
    /// Whether an idle object may be rented again; new ones are not asked for. An object that is refused is destroyed and another one
    /// taken. What it throws counts as false (<see cref="PoolStatistics.Failures"/>) and goes no further: the renter has nothing to do
    /// with that object.
    /// </summary>
    /// <param name="item">The object; only the calling thread has it.</param>
    bool Validate(T item);
}
