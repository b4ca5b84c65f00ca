using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// The address range of a thread's stack. A local variable whose address is in the range of a thread proves that the running thread is
/// that thread: two live threads never share stack memory, and code that runs on a borrowed stack (a native coroutine) is in no range.
/// </summary>
/// <remarks>
/// This answers "am I the thread that owns this?" with a subtraction and a comparison, where reading a thread-static costs a call.
/// Where the operating system does not tell the bounds the range is empty: then every such question is answered "no" and the slower, always
/// correct paths are taken.
/// </remarks>
internal static partial class StackIdentity
{
    private const int PosixAttributeBytes = 256; // pthread_attr_t is 56 to 64 bytes on the systems known

    /// <summary>The bounds of the calling thread's stack: its lowest address and its size in bytes, or (0, 0) when unknown.</summary>
    internal static unsafe (nuint Low, nuint Size) OfCurrentThread()
    {
        Unsafe.SkipInit(out int here);
        nuint address = (nuint)(&here);
        try
        {
            (nuint low, nuint size) = OperatingSystem.IsWindows() ? Windows() : OperatingSystem.IsMacOS() ? MacOS() : Posix();

            // A caller on a borrowed stack is outside its thread's bounds; it must not be taken for an owner of them.
            return address - low < size ? (low, size) : default;
        }
        catch (Exception e) when (e is DllNotFoundException or EntryPointNotFoundException)
        {
            return default;
        }
    }

    private static unsafe (nuint Low, nuint Size) Posix()
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

    private static unsafe (nuint Low, nuint Size) Windows()
    {
        nuint low, high;
        GetCurrentThreadStackLimits(&low, &high);
        return (low, high - low);
    }

    [LibraryImport("libc")]
    private static partial nuint pthread_self();

    [LibraryImport("libc")]
    private static unsafe partial int pthread_getattr_np(nuint thread, byte* attributes);

    [LibraryImport("libc")]
    private static unsafe partial int pthread_attr_getstack(byte* attributes, nuint* low, nuint* size);

    [LibraryImport("libc")]
    private static unsafe partial int pthread_attr_destroy(byte* attributes);

    [LibraryImport("libc")]
    private static partial nuint pthread_get_stackaddr_np(nuint thread);

    [LibraryImport("libc")]
    private static partial nuint pthread_get_stacksize_np(nuint thread);

    [LibraryImport("kernel32")]
    private static unsafe partial void GetCurrentThreadStackLimits(nuint* low, nuint* high);
}
