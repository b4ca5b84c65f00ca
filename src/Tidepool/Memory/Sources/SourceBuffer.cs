namespace Tidepool;

/// <summary>One buffer of a <see cref="BufferSource{T}"/>: an array with an offset, or a native address.</summary>
/// <typeparam name="T">The element type.</typeparam>
public readonly struct SourceBuffer<T>
{
    /// <summary>A buffer in an array.</summary>
    /// <param name="array">The array.</param>
    /// <param name="offset">The first element of the buffer.</param>
    /// <param name="length">The number of elements.</param>
    /// <param name="tag">Whatever the source wants to find again in <see cref="BufferSource{T}.Free"/>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="array"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The range is not inside the array.</exception>
    public SourceBuffer(T[] array, int offset, int length, object? tag = null)
    {
        ArgumentNullException.ThrowIfNull(array);
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, array.Length - offset);
        Array = array;
        Offset = offset;
        Length = length;
        Tag = tag;
    }

    /// <summary>A buffer in native memory.</summary>
    /// <param name="address">The address of its first element.</param>
    /// <param name="length">The number of elements.</param>
    /// <param name="tag">Whatever the source wants to find again in <see cref="BufferSource{T}.Free"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="address"/> is 0 or <paramref name="length"/> is negative.</exception>
    public SourceBuffer(nint address, int length, object? tag = null)
    {
        ArgumentOutOfRangeException.ThrowIfZero(address);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        Address = address;
        Length = length;
        Tag = tag;
    }

    /// <summary>The array, or null for native memory.</summary>
    public T[]? Array { get; }

    /// <summary>The first element of the buffer in <see cref="Array"/>.</summary>
    public int Offset { get; }

    /// <summary>The number of elements.</summary>
    public int Length { get; }

    /// <summary>The address of native memory, else 0.</summary>
    public nint Address { get; }

    /// <summary>What the source put there.</summary>
    public object? Tag { get; }
}
