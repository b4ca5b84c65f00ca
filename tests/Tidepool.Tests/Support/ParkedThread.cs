using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;

namespace Tidepool.Tests.Support;

/// <summary>A thread that runs what it is handed and is parked, alive, between two pieces of work.</summary>
public sealed class ParkedThread : IDisposable
{
    private readonly SemaphoreSlim _go = new(0);
    private readonly SemaphoreSlim _done = new(0);
    private readonly Thread _thread;
    private Action? _work;
    private Exception? _failure;

    public ParkedThread()
    {
        _thread = new Thread(Loop) { IsBackground = true, Name = "parked" };
        _thread.Start();
    }

    /// <summary>Runs <paramref name="work"/> on the parked thread and waits for it.</summary>
    public void Run(Action work)
    {
        _work = work;
        _go.Release();
        Assert.True(_done.Wait(Eventually.Limit), "The parked thread did not finish its work.");
        Exception? failure = _failure;
        _failure = null;
        if (failure is not null)
        {
            ExceptionDispatchInfo.Capture(failure).Throw();
        }
    }

    public TResult Run<TResult>(Func<TResult> work)
    {
        TResult result = default!;
        Run(() => { result = work(); });
        return result;
    }

    public void Dispose()
    {
        _work = null;
        _go.Release();
        _thread.Join(Eventually.Limit);
        _go.Dispose();
        _done.Dispose();
    }

    private void Loop()
    {
        while (true)
        {
            _go.Wait();
            if (!RunOne())
            {
                return;
            }

            _done.Release();
        }
    }

    /// <summary>In a frame of its own, so that the parked thread's stack refers to nothing of the work.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    [SuppressMessage("Design", "CA1031", Justification = "The failure is thrown again on the caller's thread.")]
    private bool RunOne()
    {
        Action? work = _work;
        _work = null;
        if (work is null)
        {
            return false;
        }

        try
        {
            work();
        }
        catch (Exception failure)
        {
            _failure = failure;
        }

        return true;
    }
}
