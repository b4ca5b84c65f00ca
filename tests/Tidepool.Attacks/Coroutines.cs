using System.Runtime.InteropServices;

namespace Tidepool.Attacks;

/// <summary>
/// Threads switch to stacks that the program made, with <c>makecontext</c>, and back. One thread after another uses each such stack,
/// while those that used it before go on renting.
/// </summary>
internal sealed unsafe partial class Coroutines : ForeignStacks
{
    private const int ContextBytes = 8192; // ucontext_t has 968 bytes on x64 and 4560 on Arm64
    private const int Link = 8; // uc_link, and behind it uc_stack: where, flags, size

    private const long Low = 0x1000_0000_0000; // below all stacks of threads: the runtime takes the lower frame for the inner one

    [ThreadStatic]
    private static Action? t_body;

    private static long s_next;

    public override string Name => "coroutines";

    public override string Promise => "A thread that changes to another stack is not taken for one that used that stack before.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        if (!OperatingSystem.IsLinux() || !NativeLibrary.TryGetExport(NativeLibrary.GetMainProgramHandle(), "makecontext", out _))
        {
            return; // a C library without contexts
        }

        Begin();
        int count = Math.Clamp(threads / 2, 2, 32);
        byte* room = NewStacks(count);
        object[] stacks = [.. Enumerable.Range(0, count).Select(i => (object)(nint)(room + (i * StackBytes)))];
        var deadline = new Deadline(time);
        Together(threads, seed, (_, random) => Walk(stacks, random, deadline));
        End();
    }

    private void Walk(object[] stacks, Random random, Deadline deadline)
    {
        while (!deadline.IsOver)
        {
            Rent(Mark(), new Deadline(TimeSpan.Zero), atLeast: 1);
            object stack = stacks[random.Next(stacks.Length)];
            lock (stack)
            {
                OnStack((byte*)(nint)stack, () => Rent(Mark(), new Deadline(TimeSpan.Zero), atLeast: 1));
            }
        }
    }

    private static long Mark() => Interlocked.Increment(ref s_next) << 32;

    private static byte* NewStacks(int count)
    {
        const int ReadWrite = 3, PrivateAnonymous = 0x22;
        void* room = Map((void*)unchecked((nint)Low), (nuint)count * StackBytes, ReadWrite, PrivateAnonymous, -1, 0);
        Check((nint)room == -1 ? 1 : 0, "mmap");
        return (byte*)room;
    }

    private static void OnStack(byte* stack, Action body)
    {
        byte* room = stackalloc byte[(2 * ContextBytes) + 64];
        byte* here = (byte*)(((nint)room + 63) & ~63), there = here + ContextBytes;
        Check(GetContext(there), "getcontext");
        *(byte**)(there + Link) = here;
        *(byte**)(there + Link + 8) = stack;
        *(nuint*)(there + Link + 24) = StackBytes;
        t_body = body;
        MakeContext(there, &Enter, 0);
        Check(SwapContext(here, there), "swapcontext");
    }

    [UnmanagedCallersOnly]
    private static void Enter() => t_body!();

    [LibraryImport("libc", EntryPoint = "getcontext")]
    private static partial int GetContext(byte* context);

    [LibraryImport("libc", EntryPoint = "makecontext")]
    private static partial void MakeContext(byte* context, delegate* unmanaged<void> start, int arguments);

    [LibraryImport("libc", EntryPoint = "swapcontext")]
    private static partial int SwapContext(byte* from, byte* to);

    [LibraryImport("libc", EntryPoint = "mmap")]
    private static partial void* Map(void* address, nuint length, int protection, int flags, int file, nint offset);
}
