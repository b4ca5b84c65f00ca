using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool.Tests.Support;

/// <summary>Threads whose stacks are where no stack is expected; each scenario is the body of a child process.</summary>
internal static unsafe class OddStacks
{
    private const nint Megabyte = 1 << 20;

    /// <summary>The main thread of a process without stack limit, and a thread whose stack is memory of the heap.</summary>
    public static void RunWithoutLimit()
    {
        using BufferPool<long> pool = BufferPool<long>.Create(new() { Name = "unlimited" });
        BufferLease<long> lease = pool.Rent(64);
        (nuint low, nuint size) = StackIdentity.Bounds();
        nint memory = (nint)NativeMemory.Alloc((nuint)(3 * Megabyte)); // from the heap: the test sets the threshold of the C library
        nint stack = (memory + Megabyte - 1) & -Megabyte;
        bool taken = false;
        NativeThread.Run(stack, Megabyte, () =>
        {
            taken = IsHome(lease);
            lease.Return();
        });
        Console.WriteLine($"inside the range of main: {(nuint)stack - low < size}");
        Console.WriteLine($"taken for main: {taken}");
        lease = pool.Rent(64);
        Console.WriteLine($"main is known: {IsHome(lease)}");
        lease.Return();
        Check(pool);
        NativeMemory.Free((void*)memory);
    }

    /// <summary>A thread whose stack lies in a frame of another live thread.</summary>
    public static void RunNested()
    {
        NestedOrder[] orders = StackIdentity.IsNumber ? Enum.GetValues<NestedOrder>() : [NestedOrder.OuterFirst, NestedOrder.InnerFirst];
        foreach (NestedOrder order in orders)
        {
            Exception? failure = null;
            using var nested = new Nested(order);
            var outer = new Thread(() => failure = Record.Exception(nested.Run), (int)(64 * Megabyte));
            outer.Start();
            outer.Join();
            Console.WriteLine(failure is null ? $"{order}: fine" : $"{order}: {failure}");
        }
    }

    /// <summary>Threads on which a destructor of another library rents after the runtime has detached them.</summary>
    /// <remarks>
    /// The runtime takes such a thread for a new one and does not see its end, so a later collection may end the process. None follows.
    /// </remarks>
    public static void RunDestructors()
    {
        Assert.True(GC.TryStartNoGCRegion(100 << 20));
        using BufferPool<long> pool = BufferPool<long>.Create(new() { Name = "destructors" });
        int calls = 0;
        Action rent = () =>
        {
            pool.Rent(64).Return();
            Interlocked.Increment(ref calls);
        };

        // The pool has not made its own key: the destructors of this one come first, those of the other one after ours.
        nuint early = NativeThread.NewKey(rent);
        pool.Rent(64).Return();
        nuint late = NativeThread.NewKey(rent);
        const int Count = 400;
        for (int i = 0; i < Count; i++)
        {
            nuint key = (i & 1) == 0 ? early : late;
            var thread = new Thread(() =>
            {
                NativeThread.Arm(key);
                pool.Rent(64).Return();
            });
            thread.Start();
            thread.Join();
        }

        // Threads end a moment after they were joined.
        bool none = SpinWait.SpinUntil(() =>
        {
            ThreadTier.ReapDead();
            return Volatile.Read(ref calls) == Count && ThreadTier.EndingCount == 0;
        }, TimeSpan.FromSeconds(60));
        Console.WriteLine($"calls: {calls}; identities left: {(none ? 0 : ThreadTier.EndingCount)}");
        Check(pool);
    }

    private static bool IsHome<T>(BufferLease<T> lease)
    {
        int here;
        return lease.Slot!.Home.IsOwnedBy((nuint)(&here));
    }

    private static void Check(BufferPool<long> pool)
    {
        pool.Validate();
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    private enum NestedOrder
    {
        OuterFirst,
        InnerFirst,

        /// <summary>
        /// The outer thread has worked where the inner stack comes to lie, so that the inner one finds its magazines without asking who
        /// it is.
        /// </summary>
        OuterDeep,
    }

    private sealed class Nested(NestedOrder order) : IDisposable
    {
        private const int Rounds = 20_000;

        private readonly BufferPool<long> _pool = BufferPool<long>.Create(new() { Name = "nested" });
        private readonly ManualResetEventSlim _innerIsIn = new();
        private readonly ManualResetEventSlim _outerIsIn = new();
        private readonly Barrier _both = new(2);
        private BufferLease<long> _outerLease;

        public void Run()
        {
            nint place = order == NestedOrder.OuterDeep ? RentDeep() : 0;
            if (order != NestedOrder.InnerFirst)
            {
                _outerLease = _pool.Rent(64);
            }

            Host(place);
            _outerLease.Return();
            Check(_pool);
        }

        public void Dispose()
        {
            _pool.Dispose();
            _innerIsIn.Dispose();
            _outerIsIn.Dispose();
            _both.Dispose();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private nint RentDeep()
        {
            byte* deep = stackalloc byte[(int)(6 * Megabyte)];
            *deep = 1;
            return RentHere();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private nint RentHere()
        {
            int here;
            _pool.Rent(64).Return();
            return (nint)(&here) & -Megabyte;
        }

        /// <summary>
        /// The frame with the inner stack. The inner stack shares no megabyte with frames in which the outer thread rents.
        /// </summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        private void Host(nint place)
        {
            byte* block = stackalloc byte[(int)(12 * Megabyte)];
            nint stack = place != 0 ? place : ((nint)block + (4 * Megabyte)) & -Megabyte;
            Exception? failure = null;
            var starter = new Thread(() => failure = Record.Exception(() => NativeThread.Run(stack, Megabyte, Inner)));
            starter.Start();
            _innerIsIn.Wait();
            if (order == NestedOrder.InnerFirst)
            {
                _outerLease = _pool.Rent(64);
            }

            _outerIsIn.Set();
            RentAndReturn(1);
            starter.Join();
            Assert.Null(failure);
        }

        private void Inner()
        {
            BufferLease<long> mine = _pool.Rent(64);
            _innerIsIn.Set();
            _outerIsIn.Wait();
            bool taken = IsHome(_outerLease);
            RentAndReturn(2);
            mine.Return();
            Assert.False(taken, "The inner thread was taken for the outer one.");
        }

        /// <summary>Both threads rent and return at the same time, and look whether a buffer of theirs is another's too.</summary>
        private void RentAndReturn(long who)
        {
            _both.SignalAndWait();
            for (int i = 0; i < Rounds; i++)
            {
                using BufferLease<long> first = _pool.Rent(64);
                using BufferLease<long> second = _pool.Rent(64);
                first.Span.Fill(who);
                second.Span.Fill(-who);
                Assert.Equal(-1, first.Span.IndexOfAnyExcept(who));
                Assert.Equal(-1, second.Span.IndexOfAnyExcept(-who));
            }

            _both.SignalAndWait();
        }
    }
}
