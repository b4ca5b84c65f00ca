namespace Tidepool;

/// <summary>Names of element types, as names of pools and messages have them.</summary>
internal static class TypeName
{
    /// <summary>
    /// The name without its namespace. Asking the platform for it brings 250 KB of reflection into a program that is compiled ahead of
    /// time, so the elements of most pools have theirs here.
    /// </summary>
    internal static string Of<T>() =>
        typeof(T) == typeof(byte) ? nameof(Byte)
        : typeof(T) == typeof(char) ? nameof(Char)
        : typeof(T) == typeof(int) ? nameof(Int32)
        : typeof(T) == typeof(long) ? nameof(Int64)
        : typeof(T) == typeof(float) ? nameof(Single)
        : typeof(T) == typeof(double) ? nameof(Double)
        : typeof(T).Name;
}
