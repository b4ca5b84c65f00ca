using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// An array for the current scope, returned at the closing brace of <c>using</c>. A ref struct, so it can neither
/// leave the method's stack nor cross <c>await</c>.
/// </summary>
/// <typeparam name="T">The element type.</typeparam>
/// <remarks>
/// There is no ticket: a copy that is disposed too is caught only when it follows at once. Use <see cref="BufferLease{T}"/> where copies
/// may live.
/// </remarks>
public readonly ref struct ArrayScope<T>
{
    private readonly T[]? _array;
    private readonly Magazine? _magazine;
    private readonly nint _length; // as wide as a register: a scope is copied by words, and a load waits for a store that is narrower

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ArrayScope(T[] array, Magazine? magazine, int length)
    {
        _array = array;
        _magazine = magazine;
        _length = length;
    }

    /// <summary>The array, at least <see cref="Length"/> elements long. Empty for <c>default</c>.</summary>
    /// <remarks>
    /// Behind <see cref="Length"/> it holds what earlier renters left there, and keeps what you write there, unless the pool clears.
    /// </remarks>
    public T[] Array => _array ?? [];

    /// <summary>The rented length in elements: exactly what was asked for.</summary>
    public int Length => (int)_length;

    /// <summary>The rented elements. Their content is whatever the last renter left, unless the pool clears.</summary>
    public Span<T> Span
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _array is null ? default : MemoryMarshal.CreateSpan(ref MemoryMarshal.GetArrayDataReference(_array), (int)_length);
    }

    /// <summary>Returns the array. Rented elements that hold references are cleared.</summary>
    /// <exception cref="PoolMisuseException">The array was returned a moment ago (not with checks off).</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Dispose()
    {
        if (_array is null)
        {
            return;
        }

        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            Span.Clear();
        }

        // A ref struct never leaves its thread, so the magazine it came from is still this thread's.
        if (_magazine is null || !_magazine.TryPush(_array, null))
        {
            ReturnSlow(_magazine, _array);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnSlow(Magazine? magazine, T[] array) => magazine?.Bucket.Pool.ReturnItem(magazine.Bucket, array);
}
