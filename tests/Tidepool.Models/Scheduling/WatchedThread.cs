namespace Tidepool.Models.Scheduling;

/// <summary>A thread that does one thing after the other, and is left behind when one does not end.</summary>
internal sealed class WatchedThread : IDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly SemaphoreSlim _begin = new(0);
    private readonly SemaphoreSlim _end = new(0);
    private readonly Thread _thread;
    private Action? _body;
    private Exception? _failure;
    private bool _isLeft;

    internal WatchedThread(string name)
    {
        _thread = new Thread(Loop) { IsBackground = true, Name = name };
        _thread.Start();
    }

    /// <returns>What the body threw, or null.</returns>
    internal Exception? Run(Action body)
    {
        _body = body;
        _begin.Release();
        if (_end.Wait(Limit))
        {
            return _failure;
        }

        _isLeft = true;
        return new ScheduleException($"{_thread.Name} did not end.");
    }

    public void Dispose()
    {
        if (_isLeft)
        {
            return;
        }

        _body = null;
        _begin.Release();
        _thread.Join();
        _begin.Dispose();
        _end.Dispose();
    }

    private void Loop()
    {
        while (true)
        {
            _begin.Wait();
            if (_body is not { } body)
            {
                return;
            }

            _failure = null;
            try
            {
                body();
            }
            catch (Exception e)
            {
                _failure = e;
            }

            _end.Release();
        }
    }
}
