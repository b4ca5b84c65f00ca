// The return stands in another function, or a function keeps the buffer.
namespace Traps;

internal sealed class Lambdas
{
    [Trap("a local function returns it")]
    public static int LocalFunction(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        int sum = array[0];
        Finish();
        return sum;

        void Finish() => ArrayPool<byte>.Shared.Return(array);
    }

    [Trap("a local function returns it")]
    public static int LocalFunctionOnEachPath(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        if (length < 4)
        {
            Finish(array);
            return 0;
        }

        int sum = array[0];
        Finish(array);
        return sum;

        static void Finish(byte[] done) => ArrayPool<byte>.Shared.Return(done);
    }

    [Trap("a lambda returns it")]
    public static Action Later(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        return () => ArrayPool<byte>.Shared.Return(array);
    }

    [Trap("a lambda returns it")]
    public static Task InTask(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        return Task.Run(() =>
        {
            array[0] = 1;
            ArrayPool<byte>.Shared.Return(array);
        });
    }

    [Trap("a continuation returns it")]
    public static Task Continuation(Stream stream, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        return stream.WriteAsync(array, 0, length)
            .ContinueWith((_, state) => ArrayPool<byte>.Shared.Return((byte[])state!), array, TaskScheduler.Default);
    }

    [Trap("a registration returns it")]
    public static CancellationTokenRegistration Registered(CancellationToken token, int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        return token.Register(() => ArrayPool<byte>.Shared.Return(array));
    }

    [Trap("a lambda captures the local and may replace it")]
    public static int CapturedAndReplaced(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        Action renew = () => array = ArrayPool<byte>.Shared.Rent(length);
        ArrayPool<byte>.Shared.Return(array);
        renew();
        int first = array[0];
        ArrayPool<byte>.Shared.Return(array);
        return first;
    }

    [Trap("a callback of string.Create borrows it")]
    public static string Create(int length)
    {
        char[] array = ArrayPool<char>.Shared.Rent(length);
        array.AsSpan(0, length).Fill('x');
        string text = string.Create(length, array, static (space, from) => from.AsSpan(0, space.Length).CopyTo(space));
        ArrayPool<char>.Shared.Return(array);
        return text;
    }

    [Trap("a parallel loop borrows it")]
    public static int Parallelized(int length)
    {
        int[] array = ArrayPool<int>.Shared.Rent(length);
        Parallel.For(0, length, i => array[i] = i);
        int last = array[length - 1];
        ArrayPool<int>.Shared.Return(array);
        return last;
    }

    [Trap("a query over it is used before the return")]
    public static int Query(int length)
    {
        int[] array = ArrayPool<int>.Shared.Rent(length);
        Array.Clear(array, 0, length);
        int sum = array.Take(length).Where(one => one >= 0).Sum();
        ArrayPool<int>.Shared.Return(array);
        return sum;
    }

    [Trap("a disposable made of a lambda returns it")]
    public static int Deferred(int length)
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(length);
        using var finish = new Finish(() => ArrayPool<byte>.Shared.Return(array));
        return array[0];
    }

    private sealed class Finish(Action action) : IDisposable
    {
        public void Dispose() => action();
    }
}
