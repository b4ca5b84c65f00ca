// Buffers that live as long as an object.
namespace Traps;

[Trap("rented in the constructor, returned in Dispose")]
internal sealed class OwnedBuffer(int length) : IDisposable
{
    private readonly byte[] _array = ArrayPool<byte>.Shared.Rent(length);

    public Span<byte> Span => _array.AsSpan(0, length);

    public void Dispose() => ArrayPool<byte>.Shared.Return(_array);
}

[Trap("exchanged for null before the return")]
internal sealed class ExchangedBuffer(int length) : IDisposable
{
    private byte[]? _array = ArrayPool<byte>.Shared.Rent(length);

    public void Dispose()
    {
        byte[]? array = Interlocked.Exchange(ref _array, null);
        if (array is not null)
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }
}

[Trap("exchanged for null in the argument")]
internal sealed class ExchangedInPlace(int length)
{
    private byte[] _array = ArrayPool<byte>.Shared.Rent(length);

    public void Reset() => ArrayPool<byte>.Shared.Return(Interlocked.Exchange(ref _array, []));
}

[Trap("the field is set to null after the return")]
internal sealed class NulledField : IDisposable
{
    private byte[]? _array;

    public void Ensure(int length) => _array ??= ArrayPool<byte>.Shared.Rent(length);

    public void Dispose()
    {
        if (_array != null)
        {
            ArrayPool<byte>.Shared.Return(_array);
            _array = null;
        }
    }
}

[Trap("the field is set to null before the return")]
internal sealed class NulledBefore : IDisposable
{
    private byte[]? _array;

    public void Ensure(int length) => _array ??= ArrayPool<byte>.Shared.Rent(length);

    public void Dispose()
    {
        byte[]? array = _array;
        _array = null;
        if (array != null)
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }
}

[Trap("the field gets the larger buffer")]
internal sealed class GrowingField : IDisposable
{
    private byte[] _buffer = [];
    private int _used;

    public void Append(ReadOnlySpan<byte> bytes)
    {
        if (_used + bytes.Length > _buffer.Length)
        {
            byte[] larger = ArrayPool<byte>.Shared.Rent(_used + bytes.Length);
            _buffer.AsSpan(0, _used).CopyTo(larger);
            if (_buffer.Length > 0)
            {
                ArrayPool<byte>.Shared.Return(_buffer);
            }

            _buffer = larger;
        }

        bytes.CopyTo(_buffer.AsSpan(_used));
        _used += bytes.Length;
    }

    public void Dispose()
    {
        byte[] buffer = _buffer;
        _buffer = [];
        _used = 0;
        if (buffer.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }
}

[Trap("a flag keeps Dispose from running twice")]
internal sealed class DisposedFlag(int length) : IDisposable
{
    private readonly byte[] _array = ArrayPool<byte>.Shared.Rent(length);
    private bool _isDisposed;

    public void Dispose()
    {
        if (_isDisposed)
        {
            return;
        }

        _isDisposed = true;
        ArrayPool<byte>.Shared.Return(_array);
    }
}

[Trap("the struct is set to default after the return")]
internal ref struct ValueWriter
{
    private byte[]? _rented;
    private Span<byte> _space;

    public ValueWriter(Span<byte> initial)
    {
        _rented = null;
        _space = initial;
    }

    public void Grow(int needed)
    {
        byte[] larger = ArrayPool<byte>.Shared.Rent(needed);
        _space.CopyTo(larger);
        byte[]? old = _rented;
        _space = _rented = larger;
        if (old is not null)
        {
            ArrayPool<byte>.Shared.Return(old);
        }
    }

    public void Dispose()
    {
        byte[]? rented = _rented;
        this = default;
        if (rented is not null)
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }
}

[Trap("another method returns the field")]
internal sealed class OtherMethod
{
    private byte[] _array = [];

    public void Begin(int length) => _array = ArrayPool<byte>.Shared.Rent(length);

    public void End()
    {
        ArrayPool<byte>.Shared.Return(_array);
        Forget();
    }

    private void Forget() => _array = [];
}

[Trap("a finalizer returns the field")]
internal sealed class Finalized
{
    private byte[]? _array;

    public Finalized(int length) => _array = ArrayPool<byte>.Shared.Rent(length);

    ~Finalized()
    {
        if (_array is { } array)
        {
            _array = null;
            ArrayPool<byte>.Shared.Return(array);
        }
    }
}

[Trap("the field of a node that is dropped at once")]
internal sealed class SegmentChain
{
    private Node? _head;

    public void Push(int length) => _head = new Node { Array = ArrayPool<byte>.Shared.Rent(length), Next = _head };

    public void Clear()
    {
        for (Node? node = _head; node is not null; node = node.Next)
        {
            ArrayPool<byte>.Shared.Return(node.Array);
        }

        _head = null;
    }

    private sealed class Node
    {
        public required byte[] Array { get; init; }

        public Node? Next { get; init; }
    }
}

[Trap("primary constructor captures the pool and the buffer")]
internal sealed class PrimaryCapture(ArrayPool<byte> pool, int length) : IDisposable
{
    private byte[]? _array = pool.Rent(length);

    public void Dispose()
    {
        if (_array is null)
        {
            return;
        }

        pool.Return(_array);
        _array = null;
    }
}

[Trap("partial type: the return stands in the other part")]
internal sealed partial class Halves
{
    private byte[]? _array;

    public void Open(int length) => _array = ArrayPool<byte>.Shared.Rent(length);
}

internal sealed partial class Halves : IDisposable
{
    public void Dispose()
    {
        byte[]? array = _array;
        _array = null;
        if (array is not null)
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }
}

[Trap("a lazy property rents once")]
internal sealed class LazyScratch
{
    private static byte[]? t_scratch;

    [ThreadStatic]
    private static byte[]? t_mine;

    public static byte[] Scratch(int length) => t_scratch ??= ArrayPool<byte>.Shared.Rent(length);

    public static byte[] Mine(int length)
    {
        byte[]? mine = t_mine;
        if (mine is null || mine.Length < length)
        {
            if (mine is not null)
            {
                ArrayPool<byte>.Shared.Return(mine);
            }

            t_mine = mine = ArrayPool<byte>.Shared.Rent(length);
        }

        return mine;
    }
}

[Trap("others that get the object replace its field")]
internal sealed class SharedThis
{
    private byte[] _array = ArrayPool<byte>.Shared.Rent(500);

    public void Renew(Renewer renewer)
    {
        ArrayPool<byte>.Shared.Return(_array);
        renewer.Renew(this);
    }

    public sealed class Renewer
    {
        public void Renew(SharedThis shared) => shared._array = ArrayPool<byte>.Shared.Rent(500);
    }
}

[Trap("the object itself goes back to its pool")]
internal sealed class PooledThis
{
    private readonly Microsoft.Extensions.ObjectPool.ObjectPool<PooledThis> _pool;
    private byte[] _array = ArrayPool<byte>.Shared.Rent(500);

    public PooledThis(Microsoft.Extensions.ObjectPool.ObjectPool<PooledThis> pool) => _pool = pool;

    public int First => _array[0];

    public void Prepare() => _array = ArrayPool<byte>.Shared.Rent(500);

    public void Release()
    {
        ArrayPool<byte>.Shared.Return(_array);
        _pool.Return(this);
    }
}
