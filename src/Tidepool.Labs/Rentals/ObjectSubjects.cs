using System.Buffers;
using CommunityToolkit.HighPerformance.Buffers;

namespace Tidepool.Labs;

/// <summary>
/// The subjects again for arrays of objects, without type parameters: generic code over a class is shared by the
/// runtime and looks its types up, which code that says <c>ArrayPool&lt;object&gt;</c> does not.
/// </summary>
internal readonly struct Objects(object[] array)
{
    /// <summary>The array.</summary>
    public object[] Array => array;

    /// <summary>Writes the first element, if there is one.</summary>
    public void Touch()
    {
        if (array.Length > 0)
        {
            array[0] = null!;
        }
    }
}

/// <summary><c>new object[n]</c>.</summary>
internal readonly struct NewObjects : IRentalSubject<NewObjects, Objects>
{
    public Objects Rent(int length) => new(new object[length]);

    public void Touch(Objects item) => item.Touch();

    public void Return(Objects item)
    {
    }
}

/// <summary><c>ArrayPool&lt;object&gt;.Shared</c>, arrays returned as they are.</summary>
internal readonly struct SharedObjects : IRentalSubject<SharedObjects, Objects>
{
    public Objects Rent(int length) => new(ArrayPool<object>.Shared.Rent(length));

    public void Touch(Objects item) => item.Touch();

    public void Return(Objects item) => ArrayPool<object>.Shared.Return(item.Array);
}

/// <summary><c>ArrayPool&lt;object&gt;.Shared</c> with <c>clearArray: true</c>.</summary>
internal readonly struct SharedObjectsCleared : IRentalSubject<SharedObjectsCleared, Objects>
{
    public Objects Rent(int length) => new(ArrayPool<object>.Shared.Rent(length));

    public void Touch(Objects item) => item.Touch();

    public void Return(Objects item) => ArrayPool<object>.Shared.Return(item.Array, clearArray: true);
}

/// <summary><c>ArrayPool&lt;object&gt;.Create()</c>, arrays returned as they are.</summary>
internal readonly struct CreatedObjects : IRentalSubject<CreatedObjects, Objects>
{
    private static readonly ArrayPool<object> Pool = ArrayPool<object>.Create();

    public Objects Rent(int length) => new(Pool.Rent(length));

    public void Touch(Objects item) => item.Touch();

    public void Return(Objects item) => Pool.Return(item.Array);
}

/// <summary><c>ArrayPool&lt;object&gt;.Create()</c> with <c>clearArray: true</c>.</summary>
internal readonly struct CreatedObjectsCleared : IRentalSubject<CreatedObjectsCleared, Objects>
{
    private static readonly ArrayPool<object> Pool = ArrayPool<object>.Create();

    public Objects Rent(int length) => new(Pool.Rent(length));

    public void Touch(Objects item) => item.Touch();

    public void Return(Objects item) => Pool.Return(item.Array, clearArray: true);
}

/// <summary>The classic scope struct over <c>ArrayPool&lt;object&gt;.Shared</c>.</summary>
internal readonly struct ScopedObjects : IRentalSubject<ScopedObjects, ScopedObjects.Scope>
{
    public Scope Rent(int length) => new(length);

    public void Touch(Scope item) => new Objects(item.Array).Touch();

    public void Return(Scope item) => item.Dispose();

    /// <summary>The scope.</summary>
    internal readonly struct Scope(int length) : IDisposable
    {
        /// <summary>The rented array.</summary>
        public object[] Array { get; } = ArrayPool<object>.Shared.Rent(length);

        /// <inheritdoc/>
        public void Dispose() => ArrayPool<object>.Shared.Return(Array);
    }
}

/// <summary>What a renter of an object memory pool holds.</summary>
internal readonly struct ObjectsOwner(IMemoryOwner<object> owner)
{
    /// <summary>Writes the first element, if there is one.</summary>
    public void Touch()
    {
        var span = owner.Memory.Span;
        if (span.Length > 0)
        {
            span[0] = null!;
        }
    }

    /// <summary>Returns the memory.</summary>
    public void Dispose() => owner.Dispose();
}

/// <summary><c>MemoryPool&lt;object&gt;.Shared</c>.</summary>
internal readonly struct SharedObjectMemory : IRentalSubject<SharedObjectMemory, ObjectsOwner>
{
    public ObjectsOwner Rent(int length) => new(MemoryPool<object>.Shared.Rent(length));

    public void Touch(ObjectsOwner item) => item.Touch();

    public void Return(ObjectsOwner item) => item.Dispose();
}

/// <summary>CommunityToolkit's <c>MemoryOwner&lt;object&gt;</c>.</summary>
internal readonly struct ToolkitObjectsOwner : IRentalSubject<ToolkitObjectsOwner, ToolkitObjectsOwner.Item>
{
    public Item Rent(int length) => new(MemoryOwner<object>.Allocate(length));

    public void Touch(Item item) => item.Touch();

    public void Return(Item item) => item.Dispose();

    /// <summary>The owner.</summary>
    internal readonly struct Item(MemoryOwner<object> owner)
    {
        /// <summary>Writes the first element, if there is one.</summary>
        public void Touch()
        {
            var span = owner.Span;
            if (span.Length > 0)
            {
                span[0] = null!;
            }
        }

        /// <summary>Returns the memory.</summary>
        public void Dispose() => owner.Dispose();
    }
}

/// <summary>CommunityToolkit's <c>SpanOwner&lt;object&gt;</c>.</summary>
internal readonly struct ToolkitObjectsSpan : IRentalSubject<ToolkitObjectsSpan, ToolkitObjectsSpan.Item>
{
    public Item Rent(int length) => new(SpanOwner<object>.Allocate(length));

    public void Touch(Item item) => item.Touch();

    public void Return(Item item) => item.Dispose();

    /// <summary>The owner.</summary>
    internal readonly ref struct Item(SpanOwner<object> owner)
    {
        private readonly SpanOwner<object> _owner = owner;

        /// <summary>Writes the first element, if there is one.</summary>
        public void Touch()
        {
            var span = _owner.Span;
            if (span.Length > 0)
            {
                span[0] = null!;
            }
        }

        /// <summary>Returns the array.</summary>
        public void Dispose() => _owner.Dispose();
    }
}
