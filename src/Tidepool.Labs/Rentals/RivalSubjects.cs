using System.Buffers;
using System.Runtime.CompilerServices;
using CommunityToolkit.HighPerformance.Buffers;

namespace Tidepool.Labs;

/// <summary>A bare array as what a renter holds.</summary>
internal readonly struct ArrayItem<T>(T[] array)
{
    /// <summary>The array.</summary>
    public T[] Array => array;

    /// <summary>Writes the first element, if there is one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Touch()
    {
        if (array.Length > 0)
        {
            array[0] = default!;
        }
    }
}

/// <summary>An owner of memory as what a renter holds.</summary>
internal readonly struct OwnerItem<T>(IMemoryOwner<T> owner)
{
    /// <summary>The owner.</summary>
    public IMemoryOwner<T> Owner => owner;

    /// <summary>Writes the first element, if there is one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Touch()
    {
        var span = owner.Memory.Span;
        if (span.Length > 0)
        {
            span[0] = default!;
        }
    }
}

/// <summary><c>new T[n]</c>: no pool.</summary>
internal readonly struct NewArray<T> : IRentalSubject<NewArray<T>, ArrayItem<T>>
{
    public ArrayItem<T> Rent(int length) => new(new T[length]);

    public void Touch(ArrayItem<T> item) => item.Touch();

    public void Return(ArrayItem<T> item)
    {
    }
}

/// <summary>The floor of a pattern: one array that is passed around, nothing rented.</summary>
internal readonly struct NoPool<T> : IRentalSubject<NoPool<T>, ArrayItem<T>>
{
    private static readonly T[] Array = new T[4096];

    public ArrayItem<T> Rent(int length) => new(Array);

    public void Touch(ArrayItem<T> item) => item.Touch();

    public void Return(ArrayItem<T> item)
    {
    }
}

/// <summary><c>ArrayPool&lt;T&gt;.Shared</c>.</summary>
internal readonly struct SharedArrayPool<T> : IRentalSubject<SharedArrayPool<T>, ArrayItem<T>>
{
    public ArrayItem<T> Rent(int length) => new(ArrayPool<T>.Shared.Rent(length));

    public void Touch(ArrayItem<T> item) => item.Touch();

    public void Return(ArrayItem<T> item) => ArrayPool<T>.Shared.Return(item.Array);
}

/// <summary><c>ArrayPool&lt;T&gt;.Create()</c> in a static field.</summary>
internal readonly struct CreatedArrayPool<T> : IRentalSubject<CreatedArrayPool<T>, ArrayItem<T>>
{
    private static readonly ArrayPool<T> Pool = ArrayPool<T>.Create();

    public ArrayItem<T> Rent(int length) => new(Pool.Rent(length));

    public void Touch(ArrayItem<T> item) => item.Touch();

    public void Return(ArrayItem<T> item) => Pool.Return(item.Array);
}

/// <summary>The classic scope: a struct that rents in its constructor and returns in Dispose.</summary>
internal readonly struct ClassicScope<T> : IDisposable
{
    /// <summary>Rents from <see cref="ArrayPool{T}.Shared"/>.</summary>
    public ClassicScope(int length) => Array = ArrayPool<T>.Shared.Rent(length);

    /// <summary>The rented array.</summary>
    public T[] Array { get; }

    /// <inheritdoc/>
    public void Dispose() => ArrayPool<T>.Shared.Return(Array);
}

/// <summary>The classic scope struct over <c>ArrayPool&lt;T&gt;.Shared</c>.</summary>
internal readonly struct ScopedArrayPool<T> : IRentalSubject<ScopedArrayPool<T>, ClassicScope<T>>
{
    public ClassicScope<T> Rent(int length) => new(length);

    public void Touch(ClassicScope<T> item) => new ArrayItem<T>(item.Array).Touch();

    public void Return(ClassicScope<T> item) => item.Dispose();
}

/// <summary><c>MemoryPool&lt;T&gt;.Shared</c>.</summary>
internal readonly struct SharedMemoryPool<T> : IRentalSubject<SharedMemoryPool<T>, OwnerItem<T>>
{
    public OwnerItem<T> Rent(int length) => new(MemoryPool<T>.Shared.Rent(length));

    public void Touch(OwnerItem<T> item) => item.Touch();

    public void Return(OwnerItem<T> item) => item.Owner.Dispose();
}

/// <summary>What a renter of CommunityToolkit's <c>MemoryOwner&lt;T&gt;</c> holds.</summary>
internal readonly struct ToolkitItem<T>(MemoryOwner<T> owner)
{
    /// <summary>The owner.</summary>
    public MemoryOwner<T> Owner => owner;
}

/// <summary>CommunityToolkit's <c>MemoryOwner&lt;T&gt;</c>.</summary>
internal readonly struct ToolkitMemoryOwner<T> : IRentalSubject<ToolkitMemoryOwner<T>, ToolkitItem<T>>
{
    public ToolkitItem<T> Rent(int length) => new(MemoryOwner<T>.Allocate(length));

    public void Touch(ToolkitItem<T> item)
    {
        var span = item.Owner.Span;
        if (span.Length > 0)
        {
            span[0] = default!;
        }
    }

    public void Return(ToolkitItem<T> item) => item.Owner.Dispose();
}

/// <summary>CommunityToolkit's <c>SpanOwner&lt;T&gt;</c>.</summary>
internal readonly struct ToolkitSpanOwner<T> : IRentalSubject<ToolkitSpanOwner<T>, SpanOwner<T>>
{
    public SpanOwner<T> Rent(int length) => SpanOwner<T>.Allocate(length);

    public void Touch(SpanOwner<T> item)
    {
        var span = item.Span;
        if (span.Length > 0)
        {
            span[0] = default!;
        }
    }

    public void Return(SpanOwner<T> item) => item.Dispose();
}
