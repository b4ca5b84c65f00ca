// MemoryPool<T> and IMemoryOwner<T>.
using System.Runtime.InteropServices;

namespace Traps;

internal sealed class Owners
{
    private IMemoryOwner<byte>? _owner;

    [Trap("using declaration")]
    public static int UsingDeclaration(Stream stream, int length)
    {
        using IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(length);
        return stream.Read(owner.Memory.Span[..length]);
    }

    [Trap("using statement")]
    public static int UsingStatement(Stream stream, int length)
    {
        using (IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(length))
        {
            return stream.Read(owner.Memory.Span[..length]);
        }
    }

    [Trap("using statement on a local")]
    public static int UsingLocal(Stream stream, int length)
    {
        IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(length);
        using (owner)
        {
            return stream.Read(owner.Memory.Span[..length]);
        }
    }

    [Trap("disposed in finally")]
    public static int DisposedInFinally(Stream stream, int length)
    {
        IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(length);
        try
        {
            return stream.Read(owner.Memory.Span[..length]);
        }
        finally
        {
            owner.Dispose();
        }
    }

    [Trap("disposed with a conditional access")]
    public static int ConditionalDispose(Stream stream, int length)
    {
        IMemoryOwner<byte>? owner = length > 0 ? MemoryPool<byte>.Shared.Rent(length) : null;
        int read = owner is null ? 0 : stream.Read(owner.Memory.Span[..length]);
        owner?.Dispose();
        return read;
    }

    [Trap("disposed as IDisposable")]
    public static void AsDisposable(int length)
    {
        IDisposable owner = MemoryPool<byte>.Shared.Rent(length);
        owner.Dispose();
    }

    [Trap("the owner goes to the caller")]
    public static IMemoryOwner<byte> ToCaller(int length)
    {
        IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(length);
        owner.Memory.Span[..length].Clear();
        return owner;
    }

    [Trap("the owner goes into a field")]
    public void Keep(int length)
    {
        _owner?.Dispose();
        _owner = MemoryPool<byte>.Shared.Rent(length);
    }

    [Trap("the owner goes into a wrapper")]
    public static IMemoryOwner<byte> Wrapped(int length) => new Sliced(MemoryPool<byte>.Shared.Rent(length), length);

    [Trap("the owner goes into a tuple")]
    public static (IMemoryOwner<byte> Owner, Memory<byte> Memory) WithMemory(int length)
    {
        IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(length);
        return (owner, owner.Memory[..length]);
    }

    [Trap("two owners in one using")]
    public static int Two(int length)
    {
        using IMemoryOwner<byte> first = MemoryPool<byte>.Shared.Rent(length), second = MemoryPool<byte>.Shared.Rent(length);
        return first.Memory.Length + second.Memory.Length;
    }

    [Trap("disposing twice is allowed by IDisposable")]
    public static void DisposedInUsingToo(int length)
    {
        using var stream = new MemoryStream(length);
        stream.WriteByte(1);
        stream.Dispose();
    }

    [Trap("an owner that is not rented")]
    public static Memory<byte> NotRented(IMemoryOwner<byte> owner)
    {
        Memory<byte> memory = owner.Memory;
        owner.Dispose();
        return memory.Length > 0 ? default : Memory<byte>.Empty;
    }

    [Trap("the owner's array is looked up")]
    public static int ArrayOfOwner(int length)
    {
        using IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(length);
        return MemoryMarshal.TryGetArray<byte>(owner.Memory, out ArraySegment<byte> segment) ? segment.Count : 0;
    }

    [Trap("an owner is replaced in a loop")]
    public static int Replaced(Stream stream, int length, int turns)
    {
        IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(length);
        int total = 0;
        for (int i = 0; i < turns; i++)
        {
            total += stream.Read(owner.Memory.Span[..length]);
            owner.Dispose();
            owner = MemoryPool<byte>.Shared.Rent(length);
        }

        owner.Dispose();
        return total;
    }

    private sealed class Sliced(IMemoryOwner<byte> inner, int length) : IMemoryOwner<byte>
    {
        public Memory<byte> Memory => inner.Memory[..length];

        public void Dispose() => inner.Dispose();
    }
}
