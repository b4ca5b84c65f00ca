using System.Text;

namespace Tidepool.Models.Scheduling;

/// <summary>
/// Runs a few real threads one at a time. A thread stops at each point of the code and lets a strategy decide which goes on, so a
/// strategy that repeats its choices repeats the execution. The threads live as long as this object.
/// </summary>
public sealed class Lockstep : IDisposable
{
    private const int MaxSteps = 50_000;
    private const int MaxTurns = 400; // without another thread's turn: waits that have no point of their own must end too
    private const int BlockedAfter = 1; // milliseconds; a thread that is taken for blocked in error only steps back at its next point
    private static readonly TimeSpan MaxTime = TimeSpan.FromSeconds(60);

    private static readonly List<Lockstep> Abandoned = [];

    [ThreadStatic]
    private static Worker? t_worker;

    private readonly Worker[] _workers;
    private readonly SemaphoreSlim _done = new(0);
    private readonly Lock _gate = new();
    private readonly List<int> _runnable = [];
    private readonly HashSet<int> _blocked = [];
    private readonly List<(int Thread, string Place)> _trace = [];
    private IStrategy _strategy = new RandomStrategy(new Random(0), 0);
    private Exception? _failure;
    private int _turns;
    private int _running;
    private volatile bool _isStuck;
    private bool _hasFailed;

    public Lockstep(int threads) => _workers = Enumerable.Range(0, threads).Select(i => new Worker(this, i)).ToArray();

    /// <summary>What the code under test calls at each point. Does nothing on threads that are not scheduled.</summary>
    public static void Point(string place) => t_worker?.Stop(place);

    /// <summary>Runs every body to its end.</summary>
    /// <returns>The first exception of a body, or null.</returns>
    public Exception? Run(IReadOnlyList<Action> bodies, IStrategy strategy)
    {
        ArgumentNullException.ThrowIfNull(bodies);
        _strategy = strategy;
        _failure = null;
        _isStuck = false;
        _turns = 0;
        _trace.Clear();
        _runnable.Clear();
        _blocked.Clear();
        for (int i = 0; i < bodies.Count; i++)
        {
            _workers[i].Body = bodies[i];
            _runnable.Add(i);
        }

        GoOn();
        if (!_done.Wait(MaxTime))
        {
            _isStuck = true;
            return new ScheduleException($"A thread has blocked between two points.");
        }

        return _failure;
    }

    /// <summary>The last points that were passed.</summary>
    public string Describe(int last = 160)
    {
        var text = new StringBuilder();
        int thread = -1;
        lock (_gate) // a thread that does not end may still add to it
        {
            foreach ((int next, string place) in _trace.Skip(Math.Max(0, _trace.Count - last)))
            {
                text.Append(next == thread ? ", " : $"\n  T{next}: ").Append(place);
                thread = next;
            }
        }

        return text.ToString();
    }

    /// <summary>
    /// Ends the threads, except after a failure: what they hold may then be in a state in which ending would never return.
    /// </summary>
    public void Dispose()
    {
        if (_hasFailed)
        {
            Abandoned.Add(this);
            return;
        }

        foreach (Worker worker in _workers)
        {
            worker.Dispose();
        }

        _done.Dispose();
    }

    /// <summary>Notes that the world of the last run is broken.</summary>
    public void Fail() => _hasFailed = true;

    private void AtPoint(Worker worker, string place)
    {
        bool goesOn;
        lock (_gate)
        {
            // A thread that was blocked steps back for the one that runs instead, if there is one.
            bool isSecond = _blocked.Remove(worker.Index)
                && _running != worker.Index && _runnable.Contains(_running) && !_blocked.Contains(_running);
            if (!isSecond)
            {
                _running = worker.Index;
            }

            goesOn = !isSecond && IsChosen(worker, place);
        }

        if (!goesOn)
        {
            worker.Wait();
        }
    }

    /// <summary>Lets the strategy choose; wakes the chosen thread when it is another one.</summary>
    private bool IsChosen(Worker worker, string place)
    {
        if (_isStuck)
        {
            throw new ScheduleException("Ended with the others.");
        }

        _trace.Add((worker.Index, place));
        if (_trace.Count > MaxSteps)
        {
            _isStuck = true;
            throw new ScheduleException($"No end after {MaxSteps} steps: a livelock.");
        }

        _turns++;
        bool isWaiting = place == "spin" || _turns > MaxTurns;
        int next = _strategy.Choose(worker.Index, Ready(), isWaiting);
        if (next == worker.Index)
        {
            return true;
        }

        Go(next);
        return false;
    }

    private void AtEnd(Worker worker, Exception? failure)
    {
        lock (_gate)
        {
            _failure ??= failure;
            _runnable.Remove(worker.Index);
            if (!_blocked.Remove(worker.Index) || !_runnable.Contains(_running) || _blocked.Contains(_running))
            {
                GoOn();
            }

            if (_runnable.Count == 0)
            {
                _done.Release();
            }
        }
    }

    /// <summary>
    /// A thread that waits for its turn asks now and then whether the running one waits for a lock, held by a thread that stands at a
    /// point: then another one runs, and the blocked one waits at its next point.
    /// </summary>
    private void LookForBlocked(int steps)
    {
        lock (_gate)
        {
            if (steps == _trace.Count && !_blocked.Contains(_running) && _runnable.Contains(_running) && _workers[_running].IsBlocked)
            {
                _blocked.Add(_running);
                GoOn();
            }
        }
    }

    private List<int> Ready() => _blocked.Count == 0 ? _runnable : _runnable.Where(t => !_blocked.Contains(t)).ToList();

    private void GoOn()
    {
        if (Ready() is { Count: > 0 } ready)
        {
            Go(_strategy.Choose(-1, ready, isWaiting: false));
        }
    }

    private void Go(int thread)
    {
        _turns = 0;
        _running = thread;
        _workers[thread].Go();
    }

    private sealed class Worker : IDisposable
    {
        private readonly Lockstep _owner;
        private readonly SemaphoreSlim _turn = new(0);
        private readonly Thread _thread;
        private volatile bool _isParked;

        internal Worker(Lockstep owner, int index)
        {
            _owner = owner;
            Index = index;
            _thread = new Thread(Loop) { IsBackground = true, Name = $"model {index}" };
            _thread.Start();
        }

        internal int Index { get; }

        internal Action? Body { get; set; }

        internal void Go() => _turn.Release();

        /// <summary>Whether the thread waits for something that is not its turn.</summary>
        internal bool IsBlocked => !_isParked && (_thread.ThreadState & ThreadState.WaitSleepJoin) != 0;

        internal void Wait()
        {
            _isParked = true;
            int steps = -1;
            while (!_turn.Wait(BlockedAfter))
            {
                if (steps == _owner._trace.Count)
                {
                    _owner.LookForBlocked(steps);
                }

                steps = _owner._trace.Count;
            }

            _isParked = false;
        }

        public void Dispose()
        {
            Body = null;
            Go();
            _thread.Join();
            _turn.Dispose();
        }

        internal void Stop(string place) => _owner.AtPoint(this, place);

        private void Loop()
        {
            while (true)
            {
                _isParked = true;
                _turn.Wait();
                _isParked = false;
                if (Body is not { } body)
                {
                    return;
                }

                Exception? failure = null;
                t_worker = this;
                try
                {
                    body();
                }
                catch (Exception e)
                {
                    failure = e;
                }

                t_worker = null;
                _owner.AtEnd(this, failure);
            }
        }
    }
}
