using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace Tidepool.Tests.Support;

/// <summary>A thread that the runtime did not make, on a stack that the caller provides; and destructors of thread-specific data.</summary>
internal static unsafe partial class NativeThread
{
    private const int AttributeBytes = 256; // pthread_attr_t has fewer

    private static Action? s_atExit;

    /// <summary>Runs on a new thread whose stack is the given memory; it has ended when this returns.</summary>
    public static void Run(nint stack, nint size, Action body)
    {
        var work = new Work(body);
        var handle = GCHandle.Alloc(work);
        byte* attributes = stackalloc byte[AttributeBytes];
        nuint thread = 0;
        Check(pthread_attr_init(attributes));
        Check(pthread_attr_setstack(attributes, stack, size));
        Check(pthread_create(&thread, attributes, &Enter, GCHandle.ToIntPtr(handle)));
        Check(pthread_join(thread, 0));
        _ = pthread_attr_destroy(attributes);
        handle.Free();
        if (work.Failure is not null)
        {
            throw new InvalidOperationException("The native thread failed.", work.Failure);
        }
    }

    /// <summary>
    /// Makes a key whose destructor runs <paramref name="atExit"/> on each ending thread that has called <see cref="Arm"/>.
    /// </summary>
    public static nuint NewKey(Action atExit)
    {
        s_atExit = atExit;
        nuint key = 0;
        Check(pthread_key_create(&key, &Exit));
        return key;
    }

    public static void Arm(nuint key) => Check(pthread_setspecific(key, 1));

    [UnmanagedCallersOnly]
    [SuppressMessage("Design", "CA1031", Justification = "The failure is thrown again on the caller's thread.")]
    private static nint Enter(nint state)
    {
        var work = (Work)GCHandle.FromIntPtr(state).Target!;
        try
        {
            work.Body();
        }
        catch (Exception failure)
        {
            work.Failure = failure;
        }

        return 0;
    }

    [UnmanagedCallersOnly]
    private static void Exit(nint value) => s_atExit!();

    private static void Check(int error) => Assert.Equal(0, error);

    [LibraryImport("libc")]
    private static partial int pthread_attr_init(byte* attributes);

    [LibraryImport("libc")]
    private static partial int pthread_attr_setstack(byte* attributes, nint stack, nint size);

    [LibraryImport("libc")]
    private static partial int pthread_attr_destroy(byte* attributes);

    [LibraryImport("libc")]
    private static partial int pthread_create(nuint* thread, byte* attributes, delegate* unmanaged<nint, nint> start, nint state);

    [LibraryImport("libc")]
    private static partial int pthread_join(nuint thread, nint result);

    [LibraryImport("libc")]
    private static partial int pthread_key_create(nuint* key, delegate* unmanaged<nint, void> destructor);

    [LibraryImport("libc")]
    private static partial int pthread_setspecific(nuint key, nint value);

    private sealed class Work(Action body)
    {
        public Action Body { get; } = body;

        public Exception? Failure { get; set; }
    }
}
