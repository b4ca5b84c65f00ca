using System.Buffers;

namespace Tidepool.Labs;

/// <summary>A memory pool of lab <c>memory</c>.</summary>
/// <param name="Name">The name in tables and results.</param>
/// <param name="Ours">Whether it is ours.</param>
/// <param name="Reuses">Whether it is ours, reuses its owners and is always there, so that the bars of all such pools count it.</param>
/// <param name="Exists">Whether it is there.</param>
/// <param name="Pool">The pool that the loops share.</param>
/// <param name="Create">Makes a pool that was not used before.</param>
/// <param name="Rental">Its loops.</param>
internal sealed record MemorySubject(
    string Name, bool Ours, bool Reuses, Func<bool> Exists, Func<MemoryPool<byte>> Pool, Func<MemoryPool<byte>> Create, Rental Rental)
{
    public const string Shared = "MemoryPool<byte>.Shared";

    /// <summary>The subject of a pool.</summary>
    public static MemorySubject Of<TSource>(string name, bool ours, bool reuses = false)
        where TSource : struct, IMemoryPoolSource
    {
        var rental = Rental.Anywhere<MemoryPoolSubject<TSource>, OwnerItem<byte>>(name, ours);
        return new(
            name,
            ours,
            reuses,
            () => TSource.Exists,
            () => TSource.Pool,
            TSource.Create,
            rental with { Create = cell => TSource.Exists ? rental.Create(cell) : null, Missing = TSource.Missing });
    }
}
