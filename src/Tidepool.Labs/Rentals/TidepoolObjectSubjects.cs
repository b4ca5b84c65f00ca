using System.Buffers;

namespace Tidepool.Labs;

/// <summary><c>BufferPool&lt;object&gt;.Shared.AsArrayPool()</c>, arrays returned as they are.</summary>
internal readonly struct TidepoolObjects : IRentalSubject<TidepoolObjects, Objects>
{
    private static readonly ArrayPool<object> Pool = BufferPool<object>.Shared.AsArrayPool();

    public Objects Rent(int length) => new(Pool.Rent(length));

    public void Touch(Objects item) => item.Touch();

    public void Return(Objects item) => Pool.Return(item.Array);
}

/// <summary><c>BufferPool&lt;object&gt;.Shared.AsArrayPool()</c> with <c>clearArray: true</c>.</summary>
internal readonly struct TidepoolObjectsCleared : IRentalSubject<TidepoolObjectsCleared, Objects>
{
    private static readonly ArrayPool<object> Pool = BufferPool<object>.Shared.AsArrayPool();

    public Objects Rent(int length) => new(Pool.Rent(length));

    public void Touch(Objects item) => item.Touch();

    public void Return(Objects item) => Pool.Return(item.Array, clearArray: true);
}

/// <summary><c>BufferLease&lt;object&gt;</c>: the rented length is cleared on return.</summary>
internal readonly struct TidepoolObjectLease : IRentalSubject<TidepoolObjectLease, TidepoolObjectLease.Item>
{
    public Item Rent(int length) => new(BufferPool<object>.Shared.Rent(length));

    public void Touch(Item item) => item.Touch();

    public void Return(Item item) => item.Dispose();

    /// <summary>The lease.</summary>
    internal readonly struct Item(BufferLease<object> lease)
    {
        /// <summary>The lease itself.</summary>
        public BufferLease<object> Lease => lease;

        /// <summary>Writes the first element, if there is one.</summary>
        public void Touch()
        {
            if (lease.Length > 0)
            {
                lease.Span[0] = null!;
            }
        }

        /// <summary>Returns the buffer.</summary>
        public void Dispose() => lease.Dispose();
    }
}

/// <summary><c>ArrayScope&lt;object&gt;</c>: the rented length is cleared on return.</summary>
internal readonly struct TidepoolObjectScope : IRentalSubject<TidepoolObjectScope, TidepoolObjectScope.Item>
{
    public Item Rent(int length) => new(BufferPool<object>.Shared.RentScope(length));

    public void Touch(Item item) => item.Touch();

    public void Return(Item item) => item.Dispose();

    /// <summary>The scope.</summary>
    internal readonly ref struct Item(ArrayScope<object> scope)
    {
        private readonly ArrayScope<object> _scope = scope;

        /// <summary>Writes the first element, if there is one.</summary>
        public void Touch()
        {
            if (_scope.Length > 0)
            {
                _scope.Span[0] = null!;
            }
        }

        /// <summary>Returns the array.</summary>
        public void Dispose() => _scope.Dispose();
    }
}

/// <summary>A thread handle over objects: the rented length is cleared on return.</summary>
internal readonly ref struct TidepoolObjectHandle(ThreadHandle<object> handle)
    : IRentalSubject<TidepoolObjectHandle, TidepoolObjectLease.Item>
{
    private readonly ThreadHandle<object> _handle = handle;

    public static TidepoolObjectHandle Open(int length) => new(BufferPool<object>.Shared.GetThreadHandle(length));

    public static void Close(ref TidepoolObjectHandle subject) => subject._handle.Dispose();

    public TidepoolObjectLease.Item Rent(int length) => new(_handle.Rent(length));

    public void Touch(TidepoolObjectLease.Item item) => item.Touch();

    public void Return(TidepoolObjectLease.Item item) => _handle.Return(item.Lease);
}

/// <summary><c>BufferPool&lt;object&gt;.Shared.AsMemoryPool()</c>: cleared on return.</summary>
internal readonly struct TidepoolObjectMemory : IRentalSubject<TidepoolObjectMemory, ObjectsOwner>
{
    private static readonly MemoryPool<object> Pool = BufferPool<object>.Shared.AsMemoryPool();

    public ObjectsOwner Rent(int length) => new(Pool.Rent(length));

    public void Touch(ObjectsOwner item) => item.Touch();

    public void Return(ObjectsOwner item) => item.Dispose();
}
