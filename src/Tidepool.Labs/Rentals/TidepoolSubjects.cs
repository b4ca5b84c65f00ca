using System.Buffers;

namespace Tidepool.Labs;

/// <summary><c>BufferPool&lt;T&gt;.Shared.AsArrayPool()</c> in a static field.</summary>
internal readonly struct TidepoolArrays<T> : IRentalSubject<TidepoolArrays<T>, ArrayItem<T>>
{
    private static readonly ArrayPool<T> Pool = BufferPool<T>.Shared.AsArrayPool();

    public ArrayItem<T> Rent(int length) => new(Pool.Rent(length));

    public void Touch(ArrayItem<T> item) => item.Touch();

    public void Return(ArrayItem<T> item) => Pool.Return(item.Array);
}

/// <summary><c>BufferLease&lt;T&gt;</c> of <c>BufferPool&lt;T&gt;.Shared</c>.</summary>
internal readonly struct TidepoolLease<T> : IRentalSubject<TidepoolLease<T>, BufferLease<T>>
{
    public BufferLease<T> Rent(int length) => BufferPool<T>.Shared.Rent(length);

    public void Touch(BufferLease<T> item)
    {
        if (item.Length > 0)
        {
            item.Span[0] = default!;
        }
    }

    public void Return(BufferLease<T> item) => item.Dispose();
}

/// <summary><c>BufferLease&lt;T&gt;</c> of a pool with full checks.</summary>
internal readonly struct TidepoolCheckedLease<T> : IRentalSubject<TidepoolCheckedLease<T>, BufferLease<T>>
{
    private static readonly BufferPool<T> Pool =
        BufferPool<T>.Create(new BufferPoolOptions<T> { Name = "labs.checked", Checks = PoolChecks.Full });

    public BufferLease<T> Rent(int length) => Pool.Rent(length);

    public void Touch(BufferLease<T> item) => default(TidepoolLease<T>).Touch(item);

    public void Return(BufferLease<T> item) => item.Dispose();
}

/// <summary>
/// As many arrays as a quarantine holds, in turn: compared with a pattern where one is rented and filled with it where it is returned.
/// </summary>
internal readonly struct FilledArrays : IRentalSubject<FilledArrays, ArrayItem<byte>>
{
    private const byte Pattern = 0xDD;
    private const int Resting = 64;

    [ThreadStatic]
    private static byte[][]? t_arrays;

    [ThreadStatic]
    private static int t_next;

    [ThreadStatic]
    private static bool t_differs; // so that the comparison is not left out

    public ArrayItem<byte> Rent(int length)
    {
        byte[][] arrays = t_arrays is { } made && made[0].Length == length ? made : Make(length);
        byte[] array = arrays[t_next & (Resting - 1)];
        t_next++;
        t_differs |= array.AsSpan().ContainsAnyExcept(Pattern);
        return new(array);
    }

    public void Touch(ArrayItem<byte> item) => item.Touch();

    public void Return(ArrayItem<byte> item) => item.Array.AsSpan().Fill(Pattern);

    private static byte[][] Make(int length)
    {
        t_arrays = new byte[Resting][];
        for (int i = 0; i < Resting; i++)
        {
            t_arrays[i] = new byte[length];
            t_arrays[i].AsSpan().Fill(Pattern);
        }

        return t_arrays;
    }
}

/// <summary><c>BufferLease&lt;T&gt;</c> of a pool whose budget holds no buffer.</summary>
internal readonly struct TidepoolOverflowLease : IRentalSubject<TidepoolOverflowLease, BufferLease<byte>>
{
    public BufferLease<byte> Rent(int length) => Overflow.Pool.Rent(length);

    public void Touch(BufferLease<byte> item) => default(TidepoolLease<byte>).Touch(item);

    public void Return(BufferLease<byte> item) => item.Dispose();
}

/// <summary>Arrays of a pool whose budget holds no buffer.</summary>
internal readonly struct TidepoolOverflowArrays : IRentalSubject<TidepoolOverflowArrays, ArrayItem<byte>>
{
    private static readonly ArrayPool<byte> Pool = Overflow.Pool.AsArrayPool();

    public ArrayItem<byte> Rent(int length) => new(Pool.Rent(length));

    public void Touch(ArrayItem<byte> item) => item.Touch();

    public void Return(ArrayItem<byte> item) => Pool.Return(item.Array);
}

/// <summary>The pool whose budget holds no buffer.</summary>
internal static class Overflow
{
    public static readonly BufferPool<byte> Pool = BufferPool<byte>.Create(new() { Name = "labs.overflow", Budget = 1 });
}

/// <summary><c>ArrayScope&lt;T&gt;</c>.</summary>
internal readonly struct TidepoolScope<T> : IRentalSubject<TidepoolScope<T>, ArrayScope<T>>
{
    public ArrayScope<T> Rent(int length) => BufferPool<T>.Shared.RentScope(length);

    public void Touch(ArrayScope<T> item)
    {
        if (item.Length > 0)
        {
            item.Span[0] = default!;
        }
    }

    public void Return(ArrayScope<T> item) => item.Dispose();
}

/// <summary>A thread handle that is opened once for a batch.</summary>
internal readonly ref struct TidepoolHandle<T>(ThreadHandle<T> handle) : IRentalSubject<TidepoolHandle<T>, BufferLease<T>>
{
    private readonly ThreadHandle<T> _handle = handle;

    public static TidepoolHandle<T> Open(int length) => new(BufferPool<T>.Shared.GetThreadHandle(length));

    public static void Close(ref TidepoolHandle<T> subject) => subject._handle.Dispose();

    public BufferLease<T> Rent(int length) => _handle.Rent(length);

    public void Touch(BufferLease<T> item) => default(TidepoolLease<T>).Touch(item);

    public void Return(BufferLease<T> item) => _handle.Return(item);
}

/// <summary><c>BufferPool&lt;T&gt;.Shared.AsMemoryPool()</c> in a static field.</summary>
internal readonly struct TidepoolMemory<T> : IRentalSubject<TidepoolMemory<T>, OwnerItem<T>>
{
    private static readonly MemoryPool<T> Pool = BufferPool<T>.Shared.AsMemoryPool();

    public OwnerItem<T> Rent(int length) => new(Pool.Rent(length));

    public void Touch(OwnerItem<T> item) => item.Touch();

    public void Return(OwnerItem<T> item) => item.Owner.Dispose();
}
