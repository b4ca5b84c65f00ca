using System.Runtime.InteropServices;

namespace Tidepool.Attacks;

/// <summary>With an unlimited stack the C library tells of a main thread whose stack reaches down to the heap; a thread has its stack there.</summary>
internal sealed unsafe partial class StackOnTheHeap : ForeignStacks
{
    private const int MapThreshold = -3; // M_MMAP_THRESHOLD
    private const int HeapBytes = 64 << 20; // more than the heap has free, so that it grows

    public override string Name => "stack-on-the-heap";

    public override string Promise => "A thread on a stack from malloc is not taken for the main thread, also with an unlimited stack.";

    public override string Before => "ulimit -s unlimited";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        _ = Mallopt(MapThreshold, 1 << 30);
        Begin();
        Rent(2, new Deadline(TimeSpan.FromMilliseconds(10))); // the main thread is known before the heap grows
        byte* block = (byte*)NativeMemory.AlignedAlloc(HeapBytes, 4096);
        var deadline = new Deadline(time);
        nint other = Start(block + HeapBytes - StackBytes, () => Rent(1, deadline));
        Rent(2, deadline);
        Join(other);
        End();
        NativeMemory.AlignedFree(block);
    }

    [LibraryImport("libc", EntryPoint = "mallopt")]
    private static partial int Mallopt(int parameter, int value);
}
