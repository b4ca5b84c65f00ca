using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.ObjectPool;

namespace Tidepool;

/// <summary>
/// Lets a pool of Microsoft.Extensions.ObjectPool keep objects that implement <see cref="IResettable"/> of Tidepool: returning one needs
/// no preparation.
/// </summary>
/// <typeparam name="T">The kind of object.</typeparam>
/// <remarks>Thread-safe when the function that makes objects is.</remarks>
public class ResettablePolicy<T> : PooledObjectPolicy<T>
    where T : class, IResettable
{
    private readonly Func<T> _make;

    /// <summary>Makes a policy.</summary>
    /// <param name="make">Makes a new object when the pool has none.</param>
    /// <exception cref="ArgumentNullException"><paramref name="make"/> is null.</exception>
    public ResettablePolicy(Func<T> make)
    {
        ArgumentNullException.ThrowIfNull(make);
        _make = make;
    }

    /// <summary>A new object.</summary>
    public override T Create() => _make();

    /// <summary>Resets the object: what it holds goes back to where it was rented.</summary>
    /// <param name="obj">The object that was returned.</param>
    /// <returns>False when it was disposed, or cannot be used again: then the pool drops it.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="obj"/> is null.</exception>
    [SuppressMessage("Naming", "CA1725:Parameter names should match base declaration", Justification = "They do.")]
    public override bool Return(T obj)
    {
        ArgumentNullException.ThrowIfNull(obj);
        return obj.TryReset();
    }
}
