using System.Runtime.InteropServices;

namespace Tidepool.Attacks;

/// <summary>
/// With an unlimited stack the C library reports a main thread whose stack reaches down to the heap; a thread has its stack there.
/// </summary>
internal sealed unsafe class StackOnTheHeap : ForeignStacks
{
    public override string Name => "stack-on-the-heap";

    public override string Promise => "A thread on a stack from malloc is not taken for the main thread, also with an unlimited stack.";

    public override string Before => "ulimit -s unlimited";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        Begin();
        byte* block = OnTheHeap();
        var deadline = new Deadline(time);
        nint other = Start(block + HeapBytes - StackBytes, () => Rent(1, deadline));
        Rent(2, deadline);
        Join(other);
        End();
        NativeMemory.AlignedFree(block);
    }
}
