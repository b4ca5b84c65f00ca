using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// Tells who a thread is, by its stack: an address range that becomes void when the thread ends. A local variable whose address
/// is in the range proves that the running thread is that thread: no two ranges overlap, and code that runs on a borrowed stack
/// (a native coroutine) is in none.
/// </summary>
/// <remarks>
/// <para>This answers "am I the thread that owns this?" with two loads, a subtraction and a comparison, where reading a
/// thread-static costs a call.</para>
/// <para>The range alone would not do: when a thread has ended, several new ones may live on what was its stack. Managed code is
/// not told when a thread ends, but the C library calls the destructors of thread-specific data on the ending thread, before its
/// stack can be used again. The lowest address of the range lies in a native cell, and the destructor registered for it is the C
/// library's own <c>time</c>: called with the address of the cell, it writes the time of death there, in seconds since 1970,
/// which is below every stack. No code of ours runs on a thread that is going away.</para>
/// <para>Where the operating system offers none of this (Windows has no such function to register), or
/// <c>TIDEPOOL_IDENTITY=thread</c> asks for it, a thread is known by a number in a thread-static: the cell holds that number, and
/// the size of the range is 1. See <c>docs/design/ticket.md</c> for what must hold and why.</para>
/// </remarks>
internal readonly unsafe partial struct StackIdentity
{
    internal const string Variable = "TIDEPOOL_IDENTITY";

    private const int PosixAttributeBytes = 256;    // pthread_attr_t is 56 to 64 bytes on the systems known
    private const int CellBytes = 64;               // a cache line each
    private const ulong LowestStack = 1UL << 33;    // above the seconds of some centuries; a range that begins below is not trusted
    private const ulong LargestStack = 1UL << 30;   // a longer range is that of a main thread without limit, with the heap in it
    private const ulong TopOfStack = 8UL << 20;     // is trusted of that: the usual limit; the kernel maps nothing else so near the top

    private static readonly nuint? Key = NewKey();
    private static readonly Lock Gate = new();
    private static readonly StackRanges Ranges = new();
    private static readonly Stack<nint> FreeCells = new();
    private static nuint s_lastNumber;

    [ThreadStatic]
    private static nuint t_number;

    private readonly nuint* _low;
    private readonly nuint _size;

    private StackIdentity(nuint* low, nuint size)
    {
        _low = low;
        _size = size;
    }

    /// <summary>Whether threads are known by numbers of their own instead of their stacks.</summary>
    /// <remarks>Read-only, so that compiled code holds one way only.</remarks>
    internal static readonly bool IsNumber = Key is null;

    /// <summary>No thread.</summary>
    internal static StackIdentity None { get; } = new(TakeCell(), 0);

    /// <summary>Stands in the cell of a range that overlapped with another one: no address is in it, though its thread may live.</summary>
    internal static nuint Withdrawn => unchecked((nuint)(LowestStack - 1));

    /// <summary>Whether the end of the thread shows here; otherwise only its <see cref="Thread"/> knows.</summary>
    internal bool IsKnown => _size != 0 && !IsNumber;

    /// <summary>Whether no address is this thread's any more: it has ended, or its identity was withdrawn. Only for a known one.</summary>
    internal bool HasEnded => Volatile.Read(ref *_low) < LowestStack;

    /// <summary>Whether nothing will write to the cell any more, given that the thread has ended for managed code.</summary>
    internal bool IsOver => IsNumber || Volatile.Read(ref *_low) < Withdrawn;

    /// <summary>
    /// Whether <paramref name="here"/>, the address of a caller's local, is on the stack of this thread and the thread is the caller.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool Is(nuint here) => (IsNumber ? t_number : here) - *_low < _size;

    /// <summary>The calling thread. To be called once per thread.</summary>
    internal static StackIdentity OfCurrentThread()
    {
        if (Key is not { } key)
        {
            return NewNumber();
        }

        Unsafe.SkipInit(out int here);
        nuint address = (nuint)(&here);
        EndEarlier(key);
        (nuint low, nuint size) = Plausible(Bounds());

        // A caller on a borrowed stack is outside its thread's bounds; it must not be taken for an owner of them.
        if (address - low >= size || low < LowestStack)
        {
            return None;
        }

        // The destructor is in place before the range counts: a range never outlives its thread.
        nuint* cell = TakeCell();
        if (pthread_setspecific(key, (nint)cell) == 0)
        {
            lock (Gate)
            {
                cell[1] = low;
                if (Ranges.TryAdd(cell, low, size))
                {
                    return new StackIdentity(cell, size);
                }
            }

            _ = pthread_setspecific(key, 0);
        }

        GiveCell(cell);
        return None;
    }

    /// <summary>Lets another thread have the cell. The thread has ended, and everything that trusted this identity is closed.</summary>
    internal void Recycle()
    {
        if (_size != 0)
        {
            lock (Gate)
            {
                Ranges.Remove(_low, _low[1]);
                GiveCell(_low);
            }
        }
    }

    /// <summary>The part of a range that is certainly the stack of its thread.</summary>
    internal static (nuint Low, nuint Size) Plausible((nuint Low, nuint Size) range) =>
        range.Size <= LargestStack ? range : (range.Low + range.Size - (nuint)TopOfStack, (nuint)TopOfStack);

    /// <summary>
    /// Voids what this thread was before the runtime detached it: a destructor of another library has called in on a thread that is
    /// going away, and ours will be called for the new cell only.
    /// </summary>
    private static void EndEarlier(nuint key)
    {
        nint earlier = pthread_getspecific(key);
        if (earlier != 0 && pthread_setspecific(key, 0) == 0)
        {
            Volatile.Write(ref *(nuint*)earlier, 0);
        }
    }

    private static StackIdentity NewNumber()
    {
        nuint* cell = TakeCell();
        lock (Gate)
        {
            s_lastNumber++;
            *cell = s_lastNumber;
        }

        t_number = *cell;
        return new StackIdentity(cell, 1);
    }

    /// <summary>Whether the variable asks for numbers.</summary>
    private static bool WantsNumbers(string? text) => ProcessSetting.Choose(
        text, Variable + "=", " is not stack or thread; using stack where the system allows.", "stack", "thread") == 1;

    /// <summary>The lowest address and the size of the calling thread's stack in bytes; (0, 0) when unknown.</summary>
    internal static (nuint Low, nuint Size) Bounds() =>
        OperatingSystem.IsLinux() ? Posix() : OperatingSystem.IsMacOS() ? MacOS() : default;

    private static nuint* TakeCell()
    {
        lock (Gate)
        {
            return FreeCells.TryPop(out nint cell) ? (nuint*)cell : (nuint*)NativeMemory.AllocZeroed(CellBytes);
        }
    }

    private static void GiveCell(nuint* cell)
    {
        lock (Gate)
        {
            *cell = 0;
            FreeCells.Push((nint)cell);
        }
    }

    private static nuint? NewKey()
    {
        bool hasStacks = (OperatingSystem.IsLinux() || OperatingSystem.IsMacOS()) && nuint.Size == sizeof(ulong);
        if (!hasStacks || WantsNumbers(Environment.GetEnvironmentVariable(Variable)))
        {
            return null;
        }

        try
        {
            nuint key = 0;
            nint time = NativeLibrary.GetExport(NativeLibrary.GetMainProgramHandle(), "time");
            return pthread_key_create(&key, time) == 0 ? key : null;
        }
        catch (Exception e) when (e is DllNotFoundException or EntryPointNotFoundException)
        {
            return null;
        }
    }

    private static (nuint Low, nuint Size) Posix()
    {
        byte* attributes = stackalloc byte[PosixAttributeBytes];
        if (pthread_getattr_np(pthread_self(), attributes) != 0)
        {
            return default;
        }

        nuint low, size;
        int error = pthread_attr_getstack(attributes, &low, &size);
        _ = pthread_attr_destroy(attributes);
        return error == 0 ? (low, size) : default;
    }

    private static (nuint Low, nuint Size) MacOS()
    {
        nuint self = pthread_self();
        nuint high = pthread_get_stackaddr_np(self);
        nuint size = pthread_get_stacksize_np(self);
        return (high - size, size);
    }

    [LibraryImport("libc")]
    private static partial nuint pthread_self();

    [LibraryImport("libc")]
    private static partial int pthread_key_create(nuint* key, nint destructor);

    [LibraryImport("libc")]
    private static partial int pthread_setspecific(nuint key, nint value);

    [LibraryImport("libc")]
    private static partial nint pthread_getspecific(nuint key);

    [LibraryImport("libc")]
    private static partial int pthread_getattr_np(nuint thread, byte* attributes);

    [LibraryImport("libc")]
    private static partial int pthread_attr_getstack(byte* attributes, nuint* low, nuint* size);

    [LibraryImport("libc")]
    private static partial int pthread_attr_destroy(byte* attributes);

    [LibraryImport("libc")]
    private static partial nuint pthread_get_stackaddr_np(nuint thread);

    [LibraryImport("libc")]
    private static partial nuint pthread_get_stacksize_np(nuint thread);
}
