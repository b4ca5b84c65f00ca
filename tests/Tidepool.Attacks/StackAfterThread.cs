using System.Runtime.InteropServices;

namespace Tidepool.Attacks;

/// <summary>Threads one after another on stacks that overlap those of the ones before.</summary>
/// <remarks>
/// No thread rents in a destructor of thread-specific data: by then the runtime has detached the thread, takes it for a new one, and
/// ends the process in a later collection, whatever that code does.
/// </remarks>
internal sealed unsafe class StackAfterThread : ForeignStacks
{
    private long _next;

    public override string Name => "stack-after-thread";

    public override string Promise => "A thread on the stack of one that has ended is not taken for that one.";

    public override string Before => "ulimit -s unlimited"; // the main thread's stack reaches down to the heap then

    public override void Run(TimeSpan time, int threads, int seed)
    {
        Begin();
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

    private long Mark() => Interlocked.Increment(ref _next) << 32;

    private void Body() => Rent(Mark(), new Deadline(TimeSpan.FromMilliseconds(1)));
}
