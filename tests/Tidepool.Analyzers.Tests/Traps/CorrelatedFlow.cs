// Whether a buffer is rented and whether it is returned hang together by more than the shape of the branches.
namespace Traps;

internal sealed class CorrelatedFlow
{
    [Trap("null says whether it was rented")]
    public static int StackOrPool(ReadOnlySpan<char> text)
    {
        byte[]? rented = null;
        int size = Encoding.UTF8.GetMaxByteCount(text.Length);
        Span<byte> space = size <= 256 ? stackalloc byte[256] : (rented = ArrayPool<byte>.Shared.Rent(size));
        int written = Encoding.UTF8.GetBytes(text, space);
        int sum = Checksum(space[..written]);
        if (rented != null)
        {
            ArrayPool<byte>.Shared.Return(rented);
        }

        return sum;
    }

    [Trap("null says whether it was rented")]
    public static int PatternNotNull(ReadOnlySpan<char> text)
    {
        byte[]? rented = text.Length > 64 ? ArrayPool<byte>.Shared.Rent(text.Length * 3) : null;
        Span<byte> space = rented is null ? stackalloc byte[192] : rented;
        int sum = Checksum(space[..Encoding.UTF8.GetBytes(text, space)]);
        if (rented is not null)
        {
            ArrayPool<byte>.Shared.Return(rented);
        }

        return sum;
    }

    [Trap("null says whether it was rented")]
    public static int PatternDesignation(int length)
    {
        byte[]? rented = null;
        Span<byte> space = length > 128 ? (rented = ArrayPool<byte>.Shared.Rent(length)) : stackalloc byte[128];
        int sum = Checksum(space[..length]);
        if (rented is { } array)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("null says whether it was rented")]
    public static int FinallyOnlyIfRented(int length)
    {
        byte[]? rented = null;
        try
        {
            Span<byte> space = length > 128 ? (rented = ArrayPool<byte>.Shared.Rent(length)) : stackalloc byte[128];
            return Checksum(space[..length]);
        }
        finally
        {
            if (rented is not null)
            {
                ArrayPool<byte>.Shared.Return(rented);
            }
        }
    }

    [Trap("null means returned already")]
    public static int ReturnsOnceThenNull(int length, bool isEarly)
    {
        byte[]? array = ArrayPool<byte>.Shared.Rent(length);
        int sum = Checksum(array.AsSpan(0, length));
        if (isEarly)
        {
            ArrayPool<byte>.Shared.Return(array);
            array = null;
        }

        sum++;
        if (array != null)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("a flag says who owns it")]
    public static int Flag(byte[]? given, int length)
    {
        bool isRented = given is null;
        byte[] array = isRented ? ArrayPool<byte>.Shared.Rent(length) : given!;
        int sum = Checksum(array.AsSpan(0, length));
        if (isRented)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("a flag says who owns it")]
    public static int FlagSetBeside(byte[] given, int length)
    {
        bool mustReturn = false;
        byte[] array = given;
        if (given.Length < length)
        {
            array = ArrayPool<byte>.Shared.Rent(length);
            mustReturn = true;
        }

        int sum = Checksum(array.AsSpan(0, length));
        if (mustReturn)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("a flag says whether it went back")]
    public static int FlagReturned(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        bool isReturned = false;
        int sum = Checksum(array.AsSpan(0, length));
        if (sum > 10)
        {
            ArrayPool<byte>.Shared.Return(array);
            isReturned = true;
        }

        if (!isReturned)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("the same condition twice")]
    public static int SameConditionTwice(int length)
    {
        byte[] array = [];
        if (length > 0)
        {
            array = ArrayPool<byte>.Shared.Rent(length);
        }

        int sum = Checksum(array.AsSpan(0, length));
        if (length > 0)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("the same condition twice")]
    public static int OppositeConditions(int length, bool early)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = Checksum(array.AsSpan(0, length));
        if (early)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        sum *= 2;
        if (!early)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("the same condition twice")]
    public static int UseOnlyWhileRented(int length, bool early)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        if (early)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        int sum = early ? 0 : Checksum(array.AsSpan(0, length));
        if (!early)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("an empty array needs no return")]
    public static int EmptyOrRented(int length)
    {
        byte[] array = length == 0 ? Array.Empty<byte>() : ArrayPool<byte>.Shared.Rent(length);
        int sum = Checksum(array.AsSpan(0, length));
        if (array.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("each branch returns once")]
    public static int EachBranch(int length, bool clear)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = Checksum(array.AsSpan(0, length));
        if (clear)
        {
            ArrayPool<byte>.Shared.Return(array, clearArray: true);
        }
        else
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("each branch returns once")]
    public static int EarlyExits(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        if (length == 1)
        {
            ArrayPool<byte>.Shared.Return(array);
            return 1;
        }

        if (length == 2)
        {
            ArrayPool<byte>.Shared.Return(array);
            return 4;
        }

        int sum = Checksum(array.AsSpan(0, length));
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("one early return drops it, which is legal")]
    public static int DropsOnTheRarePath(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = Checksum(array.AsSpan(0, length));
        if (sum < 0)
        {
            return -1;
        }

        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("switch sections")]
    public static int Sections(int kind, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        switch (kind)
        {
            case 0:
                ArrayPool<byte>.Shared.Return(array);
                return 0;
            case 1:
                kind += Checksum(array.AsSpan(0, length));
                goto case 2;
            case 2:
                ArrayPool<byte>.Shared.Return(array);
                break;
            default:
                ArrayPool<byte>.Shared.Return(array);
                throw new ArgumentOutOfRangeException(nameof(kind), kind, "allowed is 0 to 2");
        }

        return kind;
    }

    [Trap("switch expression chooses the source")]
    public static int SwitchExpression(int length)
    {
        byte[]? rented = null;
        byte[] array = length switch
        {
            0 => [],
            < 100 => new byte[100],
            _ => rented = ArrayPool<byte>.Shared.Rent(length),
        };
        int sum = Checksum(array.AsSpan(0, length));
        if (rented is not null)
        {
            ArrayPool<byte>.Shared.Return(rented);
        }

        return sum;
    }

    [Trap("goto leads to the only return")]
    public static int Goto(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = 0;
        if (length < 4)
        {
            goto Done;
        }

        sum = Checksum(array.AsSpan(0, length));
    Done:
        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("goto goes round for another one")]
    public static int GotoRetry(int length)
    {
        int size = length;
    Again:
        byte[] array = ArrayPool<byte>.Shared.Rent(size);
        if (Checksum(array.AsSpan(0, length)) < size)
        {
            ArrayPool<byte>.Shared.Return(array);
            size += length;
            goto Again;
        }

        ArrayPool<byte>.Shared.Return(array);
        return size;
    }

    [Trap("a loop rents into the same local again")]
    public static int LoopRentsAgain(int[] lengths)
    {
        int sum = 0;
        byte[] array;
        foreach (int length in lengths)
        {
            array = ArrayPool<byte>.Shared.Rent(length);
            sum += Checksum(array.AsSpan(0, length));
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("a loop rents into the same local again")]
    public static int LoopReturnsBeforeItRents(int[] lengths)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(lengths.Length);
        int sum = 0;
        for (int i = 0; i < lengths.Length; i++)
        {
            ArrayPool<byte>.Shared.Return(array);
            array = ArrayPool<byte>.Shared.Rent(lengths[i]);
            sum += Checksum(array.AsSpan(0, lengths[i]));
        }

        ArrayPool<byte>.Shared.Return(array);
        return sum;
    }

    [Trap("the return leaves the loop")]
    public static int ReturnsAndBreaks(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int turns = 0;
        while (true)
        {
            turns++;
            if (Checksum(array.AsSpan(0, length)) > turns)
            {
                ArrayPool<byte>.Shared.Return(array);
                break;
            }
        }

        return turns;
    }

    [Trap("the return leaves the loop")]
    public static int ReturnsAndContinues(int[] lengths)
    {
        int sum = 0;
        foreach (int length in lengths)
        {
            byte[] array = ArrayPool<byte>.Shared.Rent(length);
            if (length < 8)
            {
                ArrayPool<byte>.Shared.Return(array);
                continue;
            }

            sum += Checksum(array.AsSpan(0, length));
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("a path that never ends needs no return")]
    public static void Forever(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        while (true)
        {
            Checksum(array.AsSpan(0, length));
        }
    }

    [Trap("the compiler's constant decides")]
    public static int Constant(int length)
    {
        const bool pool = false;
        byte[] array = pool ? ArrayPool<byte>.Shared.Rent(length) : new byte[length];
        int sum = Checksum(array.AsSpan(0, length));
        if (pool)
        {
            ArrayPool<byte>.Shared.Return(array);
        }

        return sum;
    }

    [Trap("coalescing chooses the source")]
    public static int Coalesce(byte[]? given, int length)
    {
        byte[]? rented = given is null ? ArrayPool<byte>.Shared.Rent(length) : null;
        byte[] array = given ?? rented!;
        int sum = Checksum(array.AsSpan(0, length));
        if (rented != null)
        {
            ArrayPool<byte>.Shared.Return(rented);
        }

        return sum;
    }

    private static int Checksum(ReadOnlySpan<byte> bytes)
    {
        int sum = 0;
        foreach (byte one in bytes)
        {
            sum += one;
        }

        return sum;
    }

    [Trap("a helper that does not return ends the way")]
    public static int Refused(BufferPool<byte> pool, int n, bool isBad)
    {
        BufferLease<byte> lease = pool.Rent(n);
        if (isBad)
        {
            Refuse();
            return 0;
        }

        int first = lease.Span[0];
        lease.Dispose();
        return first;
    }

    [Trap("a helper that does not return ends the way")]
    public static int RefusedWithResult(BufferPool<byte> pool, int n)
    {
        BufferLease<byte> lease = pool.Rent(n);
        if (lease.Span[0] == 0)
        {
            return Refuse<int>();
        }

        int first = lease.Span[0];
        lease.Dispose();
        return first;
    }

    [System.Diagnostics.CodeAnalysis.DoesNotReturn]
    private static void Refuse() => throw new InvalidOperationException();

    [System.Diagnostics.CodeAnalysis.DoesNotReturn]
    private static T Refuse<T>() => throw new InvalidOperationException();

    private enum Mode
    {
        None,
        Pooled,
    }

    [Trap("a state that is an enum says that there is a rental")]
    public static int ByMode(BufferPool<byte> pool, int n)
    {
        Mode mode = Mode.None;
        BufferLease<byte> lease = default;
        if (n > 256)
        {
            lease = pool.Rent(n);
            mode = Mode.Pooled;
        }

        int length = n + 1;
        if (mode == Mode.Pooled)
        {
            lease.Dispose();
        }

        return length;
    }
}
