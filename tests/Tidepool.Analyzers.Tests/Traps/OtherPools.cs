// Pools that are not what their names suggest, and pools that are the same under two names.
namespace Traps;

internal sealed class OtherPools
{
    private static class Factory
    {
        public static ArrayPool<byte> Create() => ArrayPool<byte>.Shared;
    }

    private static readonly ArrayPool<byte> s_made = Factory.Create();

    [Trap("a factory that may give any pool")]
    public static int FromFactory(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int first = array[0];
        s_made.Return(array);
        return first;
    }

    private static readonly ArrayPool<byte> s_own = ArrayPool<byte>.Create(1 << 20, 8);
    private readonly ArrayPool<byte> _pool;

    public OtherPools(ArrayPool<byte>? pool) => _pool = pool ?? ArrayPool<byte>.Shared;

    [Trap("a class of the user with a method Return")]
    public static int UserPool(Depot depot)
    {
        byte[] array = depot.Rent(10);
        depot.Return(array);
        depot.Return(array);
        return array[0];
    }

    [Trap("a class of the user named ArrayPool")]
    public static int SameName()
    {
        byte[] array = Mine.ArrayPool<byte>.Shared.Rent(10);
        Mine.ArrayPool<byte>.Shared.Return(array);
        Mine.ArrayPool<byte>.Shared.Return(array);
        return array[0];
    }

    [Trap("the same pool under two names")]
    public static int SamePoolTwice(int length)
    {
        ArrayPool<byte> pool = ArrayPool<byte>.Shared;
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int first = array[0];
        pool.Return(array);
        return first;
    }

    [Trap("the same pool under two names")]
    public int FieldAndLocal(int length)
    {
        ArrayPool<byte> pool = _pool;
        byte[] array = _pool.Rent(length);
        int first = array[0];
        pool.Return(array);
        return first;
    }

    [Trap("a field of unknown pool")]
    public int UnknownPool(int length)
    {
        byte[] array = _pool.Rent(length);
        int first = array[0];
        _pool.Return(array);
        return first;
    }

    [Trap("a parameter may be the shared pool")]
    public static int Parameter(ArrayPool<byte> pool, int length)
    {
        byte[] array = pool.Rent(length);
        int first = array[0];
        pool.Return(array);
        return first;
    }

    [Trap("the pool is chosen by size, twice alike")]
    public static int Chosen(int length)
    {
        ArrayPool<byte> pool = length > 4096 ? s_own : ArrayPool<byte>.Shared;
        byte[] array = pool.Rent(length);
        int first = array[0];
        pool.Return(array);
        return first;
    }

    [Trap("the pool is chosen by size, twice alike")]
    public static int ChosenTwice(int length)
    {
        byte[] array = (length > 4096 ? s_own : ArrayPool<byte>.Shared).Rent(length);
        int first = array[0];
        (length > 4096 ? s_own : ArrayPool<byte>.Shared).Return(array);
        return first;
    }

    [Trap("the pool is chosen by a branch")]
    public static int ChosenByBranch(int length)
    {
        byte[] array;
        if (length > 4096)
        {
            array = s_own.Rent(length);
        }
        else
        {
            array = ArrayPool<byte>.Shared.Rent(length);
        }

        int first = array[0];
        if (length > 4096)
        {
            s_own.Return(array);
        }
        else
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return first;
    }

    [Trap("a property gives the pool")]
    public static int Property(int length)
    {
        byte[] array = Depot.Pool.Rent(length);
        int first = array[0];
        Depot.Pool.Return(array);
        return first;
    }

    [Trap("a property that gives the shared pool")]
    public static int PropertyThatIsShared(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int first = array[0];
        Depot.Pool.Return(array);
        return first;
    }

    [Trap("a pool behind an interface of the user")]
    public static int Interface(IRenter renter, int length)
    {
        byte[] array = renter.Rent(length);
        int first = array[0];
        renter.Return(array);
        return first;
    }

    [Trap("two pools, each its own buffer")]
    public static int TwoPools(int length)
    {
        byte[] small = ArrayPool<byte>.Shared.Rent(length);
        byte[] large = s_own.Rent(length);
        int first = small[0] + large[0];
        ArrayPool<byte>.Shared.Return(small);
        s_own.Return(large);
        return first;
    }

    [Trap("a derived pool counts and passes on")]
    public sealed class CountingPool(ArrayPool<byte> inner) : ArrayPool<byte>
    {
        private int _out;

        public override byte[] Rent(int minimumLength)
        {
            Interlocked.Increment(ref _out);
            return inner.Rent(minimumLength);
        }

        public override void Return(byte[] array, bool clearArray = false)
        {
            Interlocked.Decrement(ref _out);
            inner.Return(array, clearArray);
        }
    }

    internal sealed class Depot
    {
        private byte[] _array = [1];

        public static ArrayPool<byte> Pool => ArrayPool<byte>.Shared;

        public byte[] Rent(int length) => _array.Length >= length ? _array : new byte[length];

        public void Return(byte[] array) => _array = array;
    }

    internal interface IRenter
    {
        byte[] Rent(int length);

        void Return(byte[] array);
    }
}

internal static class Mine
{
    internal sealed class ArrayPool<T>
    {
        public static ArrayPool<T> Shared { get; } = new();

        public T[] Rent(int length) => new T[length];

        public void Return(T[] array) => array.AsSpan().Clear();
    }
}
