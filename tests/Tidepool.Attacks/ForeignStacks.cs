using System.Runtime.InteropServices;

namespace Tidepool.Attacks;

/// <summary>Threads on stacks that a program gives them rent and return beside the threads whose memory these stacks lie in.</summary>
internal abstract unsafe partial class ForeignStacks : Attack
{
    protected const int StackBytes = 1 << 20;
    protected const int HeapBytes = 64 << 20; // more than the heap has free, so that it grows

    private const int MapThreshold = -3; // M_MMAP_THRESHOLD

    private static Action? s_body;

    private readonly (BufferLease<long> Lease, long Mark)[] _held = new (BufferLease<long>, long)[16];
    private BufferPool<long>? _pool;

    /// <summary>Runs the body on a thread with the stack that is given.</summary>
    protected static nint Start(void* stack, Action body)
    {
        byte* attributes = stackalloc byte[256]; // pthread_attr_t has 56 bytes on Linux
        Check(Init(attributes), "pthread_attr_init");
        Check(SetStack(attributes, stack, StackBytes), "pthread_attr_setstack");
        while (Interlocked.CompareExchange(ref s_body, body, null) is not null)
        {
            Thread.Yield(); // the thread that was started last has not begun yet
        }

        nint thread;
        Check(Create(&thread, attributes, &Enter, null), "pthread_create");
        return thread;
    }

    protected static void Join(nint thread) => Check(JoinThread(thread, null), "pthread_join");

    protected void Begin() => _pool = BufferPool<long>.Create(new() { Name = Name });

    /// <summary>Takes <see cref="HeapBytes"/> in the heap that grows toward the stack of the main thread, which calls this.</summary>
    protected byte* OnTheHeap()
    {
        _ = Mallopt(MapThreshold, 1 << 30);
        Rent(2, new Deadline(TimeSpan.FromMilliseconds(10))); // the main thread is known before the heap grows
        return (byte*)NativeMemory.AlignedAlloc(HeapBytes, 4096);
    }

    protected void End()
    {
        try
        {
            foreach ((BufferLease<long> lease, _) in _held)
            {
                lease.Dispose();
            }
        }
        catch (InvalidOperationException broken)
        {
            Break(broken.Message);
        }

        Validate(_pool!.Validate);
    }

    /// <summary>
    /// Rents and marks, puts what it has among what all have, and returns what it takes from there, until the time is over.
    /// </summary>
    protected void Rent(long mark, Deadline deadline, int atLeast = 0)
    {
        var random = new Random((int)mark);
        try
        {
            for (int round = 0; round < atLeast || !deadline.IsOver; round++)
            {
                for (int i = 0; i < 100; i++)
                {
                    BufferLease<long> mine = _pool!.Rent(16);
                    mark += 2; // odd and even marks are those of two threads
                    mine.Span.Fill(mark);
                    Thread.SpinWait(5);
                    (BufferLease<long> lease, long its) = random.Next(2) == 0
                        ? (mine, mark)
                        : Exchange(random.Next(_held.Length), (mine, mark));
                    if (its == 0)
                    {
                        continue; // the place was empty
                    }

                    if (lease.Span.IndexOfAnyExcept(its) >= 0)
                    {
                        Break("one buffer had two renters");
                    }

                    lease.Return();
                }

                Count(100);
            }
        }
#pragma warning disable CA1031 // Whatever an attacked call throws is a finding, and nothing may leave a thread that the C library started.
        catch (Exception thrown)
#pragma warning restore CA1031
        {
            Break($"{thrown.GetType().Name}: {thrown.Message}");
        }
    }

    private (BufferLease<long> Lease, long Mark) Exchange(int place, (BufferLease<long> Lease, long Mark) mine)
    {
        lock (_held)
        {
            (mine, _held[place]) = (_held[place], mine);
            return mine;
        }
    }

    protected static void Check(int code, string what)
    {
        if (code != 0)
        {
            throw new InvalidOperationException($"{what} failed with {code}.");
        }
    }

    [UnmanagedCallersOnly]
    private static void* Enter(void* argument)
    {
        Interlocked.Exchange(ref s_body, null)!();
        return argument;
    }

    [LibraryImport("libc", EntryPoint = "pthread_attr_init")]
    private static partial int Init(byte* attributes);

    [LibraryImport("libc", EntryPoint = "pthread_attr_setstack")]
    private static partial int SetStack(byte* attributes, void* stack, nuint size);

    [LibraryImport("libc", EntryPoint = "pthread_create")]
    private static partial int Create(nint* thread, byte* attributes, delegate* unmanaged<void*, void*> start, void* argument);

    [LibraryImport("libc", EntryPoint = "mallopt")]
    private static partial int Mallopt(int parameter, int value);

    [LibraryImport("libc", EntryPoint = "pthread_join")]
    private static partial int JoinThread(nint thread, void** result);
}
