using System.Runtime.ExceptionServices;

namespace Tidepool.Models.Pools;

/// <summary>A few threads that do what they are told: one at a time, or all at once.</summary>
internal sealed class Crew : IDisposable
{
    private readonly Member[] _members;

    internal Crew(int count) => _members = Enumerable.Range(0, count).Select(static _ => new Member()).ToArray();

    /// <summary>Does <paramref name="work"/> on one thread and waits for it.</summary>
    internal void Do(int thread, Action work) => _members[thread].Start(work).Wait();

    /// <summary>Does <paramref name="work"/> on every thread at once and waits for all.</summary>
    internal void DoAll(Action<int> work)
    {
        var started = _members.Select((m, i) => m.Start(() => work(i))).ToList();
        started.ForEach(static m => m.Wait());
    }

    /// <summary>Ends one thread; another takes its place.</summary>
    internal void Replace(int thread)
    {
        _members[thread].Dispose();
        _members[thread] = new Member();
    }

    public void Dispose() => Array.ForEach(_members, static m => m.Dispose());

    private sealed class Member : IDisposable
    {
        private readonly SemaphoreSlim _told = new(0);
        private readonly SemaphoreSlim _done = new(0);
        private readonly Thread _thread;
        private Action? _work;
        private ExceptionDispatchInfo? _failure;

        internal Member()
        {
            _thread = new Thread(Loop) { IsBackground = true };
            _thread.Start();
        }

        public void Dispose()
        {
            _work = null;
            _told.Release();
            _thread.Join();
            _told.Dispose();
            _done.Dispose();
        }

        internal Member Start(Action work)
        {
            _work = work;
            _told.Release();
            return this;
        }

        internal void Wait()
        {
            _done.Wait();
            ExceptionDispatchInfo? failure = _failure;
            _failure = null;
            failure?.Throw();
        }

        private void Loop()
        {
            while (true)
            {
                _told.Wait();
                if (_work is not { } work)
                {
                    return;
                }

                try
                {
                    work();
                }
                catch (Exception e)
                {
                    _failure = ExceptionDispatchInfo.Capture(e);
                }

                _done.Release();
            }
        }
    }
}
