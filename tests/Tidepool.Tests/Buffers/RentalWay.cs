using System.Buffers;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Buffers;

/// <summary>What a renter sees: the rented elements, and everything that it can reach without unsafe code.</summary>
internal delegate void Visit<T>(Memory<T> rented, Memory<T> reachable);

/// <summary>One way to rent from a pool and to return, with code of the test in between.</summary>
internal sealed record RentalWay<T>(string Name, Action<BufferPool<T>, int, Visit<T>> Run)
{
    /// <summary>Whether the array is handed over whole, so that there is nothing behind the rented length.</summary>
    public bool IsRaw { get; init; }

    /// <summary>Whether the rented elements are zeroed when they are rented, whatever the pool does.</summary>
    public bool ClearsOnRent { get; init; }

    /// <summary>Whether everything is zeroed when it is returned, whatever the pool does.</summary>
    public bool ClearsOnReturn { get; init; }

    /// <summary>Whether a pool that does something on each rental refuses it.</summary>
    public bool NeedsPlainPool { get; init; }

    /// <summary>Every way that <see cref="BufferPool{T}"/> offers; returns elsewhere happen on <paramref name="other"/>.</summary>
    public static RentalWay<T>[] All(ParkedThread other) =>
    [
        new("lease", static (pool, length, visit) =>
        {
            using BufferLease<T> lease = pool.Rent(length);
            Show(lease, visit);
        }),
        new("lease, returned elsewhere", (pool, length, visit) =>
        {
            BufferLease<T> lease = pool.Rent(length);
            Show(lease, visit);
            other.Run(lease.Return);
        }),
        new("lease, cleared", static (pool, length, visit) =>
        {
            using BufferLease<T> lease = pool.Rent(length, clear: true);
            Show(lease, visit);
        }) { ClearsOnRent = true },
        new("owner of a lease", static (pool, length, visit) =>
        {
            BufferLease<T> lease = pool.Rent(length);
            using IMemoryOwner<T> owner = lease.ToOwner();
            Show(owner, visit);
        }),
        new("owner of a lease, disposed elsewhere", (pool, length, visit) =>
        {
            IMemoryOwner<T> owner = pool.Rent(length).ToOwner();
            Show(owner, visit);
            other.Run(owner.Dispose);
        }),
        new("scope", static (pool, length, visit) =>
        {
            using ArrayScope<T> scope = pool.RentScope(length);
            visit(scope.Array.AsMemory(0, scope.Length), scope.Array);
        }),
        new(
            "array",
            static (pool, length, visit) => RunArray(pool.AsArrayPool(), length, visit, static (p, a) => p.Return(a))) { IsRaw = true },
        new(
            "array, returned elsewhere",
            (pool, length, visit) => RunArray(pool.AsArrayPool(), length, visit, (p, a) => other.Run(() => p.Return(a)))) { IsRaw = true },
        new(
            "array, cleared",
            static (pool, length, visit) => RunArray(pool.AsArrayPool(), length, visit, static (p, a) => p.Return(a, clearArray: true)))
        {
            IsRaw = true,
            ClearsOnReturn = true,
        },
        new("array of other sizes", static (pool, length, visit) =>
            RunArray(pool.AsArrayPool(SizeClasses.Default), length, visit, static (p, a) => p.Return(a))) { IsRaw = true },
        new("memory", static (pool, length, visit) =>
        {
            using IMemoryOwner<T> owner = pool.AsMemoryPool().Rent(length);
            Show(owner, visit);
        }),
        new("memory of reused owners", static (pool, length, visit) =>
        {
            using var memory = new PooledMemoryPool<T>(pool, OwnerReuse.Guarded);
            using IMemoryOwner<T> owner = memory.Rent(length);
            Show(owner, visit);
        }),
        new("memory of unguarded owners", static (pool, length, visit) =>
        {
            using var memory = new PooledMemoryPool<T>(pool, OwnerReuse.Unguarded);
            using IMemoryOwner<T> owner = memory.Rent(length);
            Show(owner, visit);
        }),
        new("lease of a handle", static (pool, length, visit) =>
        {
            using ThreadHandle<T> handle = pool.GetThreadHandle(length);
            BufferLease<T> lease = handle.Rent(length);
            Show(lease, visit);
            handle.Return(lease);
        }) { NeedsPlainPool = true },
        new("detached lease", static (pool, length, visit) =>
        {
            ArraySegment<T> kept = pool.Rent(length).Detach();
            visit(kept, kept.Array);
        }),
    ];

    private static void Show(BufferLease<T> lease, Visit<T> visit) => visit(lease.Segment, lease.Segment.Array);

    private static void Show(IMemoryOwner<T> owner, Visit<T> visit) =>
        visit(owner.Memory, MemoryMarshal.TryGetArray<T>(owner.Memory, out ArraySegment<T> segment) ? segment.Array : owner.Memory);

    private static void RunArray(ArrayPool<T> pool, int length, Visit<T> visit, Action<ArrayPool<T>, T[]> giveBack)
    {
        T[] array = pool.Rent(length);
        visit(array, array);
        giveBack(pool, array);
    }
}
