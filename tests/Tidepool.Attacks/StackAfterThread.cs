using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool.Attacks;

/// <summary>Threads one after another on stacks that overlap those of the ones before, and that still rent while they are being destroyed.</summary>
internal sealed unsafe partial class StackAfterThread : ForeignStacks
{
    private static StackAfterThread? s_attack;
    private static uint s_key;
    private static long s_next;

    public override string Name => "stack-after-thread";

    public override string Promise => "A thread on the stack of one that has ended is not taken for that one, also where destructors rent.";

    public override string Before => "ulimit -s unlimited"; // the main thread's stack reaches down to the heap then

    public override void Run(TimeSpan time, int threads, int seed)
    {
        Begin();
        s_attack = this;
        uint key;
        Check(CreateKey(&key, &Destroy), "pthread_key_create");
        s_key = key;
        byte* block = OnTheHeap(), room = block + HeapBytes - (3 * StackBytes);
        var deadline = new Deadline(time);
        var random = new Random(seed);
        Thread[] others = [.. Enumerable.Range(0, Math.Max(1, threads - 2)).Select(_ => new Thread(() => Rent(Mark(), deadline)))];
        Array.ForEach(others, static thread => thread.Start());
        while (!deadline.IsOver)
        {
            // The lower half of the room, and the upper one: each thread's stack lies across an earlier one's.
            nint low = Start(room + (random.Next(8) * (StackBytes / 16)), Body);
            nint high = Start(room + (3 * StackBytes / 2) + (random.Next(8) * (StackBytes / 16)), Body);
            Rent(Mark(), new Deadline(TimeSpan.FromMilliseconds(2)));
            Join(low);
            Join(high);
        }

        Array.ForEach(others, static thread => thread.Join());
        End();
        NativeMemory.AlignedFree(block);
    }

    private static long Mark() => Interlocked.Increment(ref s_next) << 32;

    private void Body()
    {
        Rent(Mark(), new Deadline(TimeSpan.FromMilliseconds(1)));
        if (RuntimeFeature.IsDynamicCodeSupported) // what was compiled ahead of time must not be called by a thread that is being destroyed
        {
            Check(SetSpecific(s_key, (void*)1), "pthread_setspecific");
        }
    }

    [UnmanagedCallersOnly]
    private static void Destroy(void* value) => s_attack!.Rent(Mark(), new Deadline(TimeSpan.Zero), atLeast: 1);

    [LibraryImport("libc", EntryPoint = "pthread_key_create")]
    private static partial int CreateKey(uint* key, delegate* unmanaged<void*, void> destructor);

    [LibraryImport("libc", EntryPoint = "pthread_setspecific")]
    private static partial int SetSpecific(uint key, void* value);
}
