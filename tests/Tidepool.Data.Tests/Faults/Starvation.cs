namespace Tidepool.Data.Tests.Faults;

/// <summary>
/// Holds every thread of the thread pool until it is disposed: timers, answers from sockets and continuations come late meanwhile. Made and
/// disposed on a thread that is none of the pool's.
/// </summary>
internal sealed class Starvation : IDisposable
{
    private readonly ManualResetEventSlim _over = new();
    private readonly CountdownEvent _left;

    public Starvation()
    {
        Assert.False(Thread.CurrentThread.IsThreadPoolThread);
        int threads = Environment.ProcessorCount; // no fewer are allowed
        using var held = new CountdownEvent(threads);
        _left = new CountdownEvent(threads);
        Assert.True(ThreadPool.SetMinThreads(1, 1) && ThreadPool.SetMaxThreads(threads, threads)
            && ThreadPool.SetMinThreads(threads, threads));
        for (int i = 0; i < threads; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                _ =>
                {
                    held.Signal();
                    _over.Wait();
                    _left.Signal();
                },
                null);
        }

        held.Wait();
    }

    public void Dispose()
    {
        _over.Set();
        _left.Wait();
        _over.Dispose();
        _left.Dispose();
    }
}
