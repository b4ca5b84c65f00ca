using System.Runtime.InteropServices;

namespace Tidepool.Tests.Support;

/// <summary>Twelve bytes: a size that divides no power of two.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 4)]
public readonly record struct Triple(int X, int Y, int Z);

/// <summary>A value that holds a reference, so that an idle buffer of it keeps objects alive.</summary>
public readonly record struct Named(string? Name, int Number);

/// <summary>Makes a value of an element type that differs from its default.</summary>
public static class Sample
{
    public static T Of<T>(int seed)
    {
        unchecked
        {
            object value = typeof(T) switch
            {
                Type t when t == typeof(byte) => (byte)(seed % 255 + 1),
                Type t when t == typeof(char) => (char)(seed % 60000 + 1),
                Type t when t == typeof(int) => (seed | 1),
                Type t when t == typeof(long) => ((long)seed << 20) | 1,
                Type t when t == typeof(Guid) => new Guid(seed, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
                Type t when t == typeof(decimal) => seed + 0.5m,
                Type t when t == typeof(Triple) => new Triple(seed, 1, 2),
                Type t when t == typeof(Named) => new Named("n", seed | 1),
                Type t when t == typeof(string) => "s" + seed,
                Type t when t == typeof(object) => new object(),
                _ => throw new NotSupportedException(typeof(T).Name),
            };
            return (T)value;
        }
    }
}
