using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>
/// Threads that wait between batches and start a batch together, on processors of their own as far as there are some. Each takes its own
/// start and end time after all have met, so waking them is not measured: the wall time is the last end minus the first start.
/// </summary>
internal sealed class WorkerCrew
{
    private static readonly Dictionary<int, WorkerCrew> Crews = [];

    private readonly Thread[] _threads;
    private readonly SemaphoreSlim[] _starts;
    private readonly object _gate = new();
    private readonly long[] _began;
    private readonly long[] _ended;
    private readonly long[] _bytes;
    private readonly ProcessorSpread _processors;
    private readonly Exception?[] _failures;
    private Action<int>? _body;
    private int _arrived;
    private int _spread;
    private int _running;

    private WorkerCrew(int count)
    {
        _began = new long[count];
        _ended = new long[count];
        _bytes = new long[count];
        _processors = new ProcessorSpread(count);
        _failures = new Exception?[count];
        _starts = [.. Enumerable.Range(0, count).Select(_ => new SemaphoreSlim(0))];
        _threads = [.. Enumerable.Range(0, count).Select(member => new Thread(() => Serve(member))
        {
            IsBackground = true,
            Name = $"crew {member + 1}/{count}",
        })];
        foreach (var thread in _threads)
        {
            thread.Start();
        }
    }

    /// <summary>The crew of that many threads; made once, called from one thread.</summary>
    public static WorkerCrew Of(int count)
    {
        if (!Crews.TryGetValue(count, out var crew))
        {
            crew = new WorkerCrew(count);
            Crews.Add(count, crew);
        }

        return crew;
    }

    /// <summary>Lets every member run the body once, at the same time.</summary>
    /// <exception cref="AggregateException">A member threw.</exception>
    public Sample Measure(Action<int> body, long operations)
    {
        _body = body;
        _processors.Clear();
        (_arrived, _spread) = (0, 0);
        _running = _threads.Length;
        var collections = CollectionCounts.Now();
        foreach (var start in _starts)
        {
            start.Release();
        }

        lock (_gate)
        {
            while (_running > 0)
            {
                Monitor.Wait(_gate);
            }
        }

        if (_failures.Any(failure => failure is not null))
        {
            throw new AggregateException(_failures.Where(failure => failure is not null)!);
        }

        return Sample.Of(_ended.Max() - _began.Min(), _bytes.Sum(), CollectionCounts.Now().Since(collections), operations);
    }

    private void Serve(int member)
    {
        while (true)
        {
            _starts[member].Wait();
            try
            {
                Meet(ref _arrived);
                _processors.Await(member);
                Meet(ref _spread);
                long bytes = GC.GetAllocatedBytesForCurrentThread();
                _began[member] = Stopwatch.GetTimestamp();
                _body!(member);
                _ended[member] = Stopwatch.GetTimestamp();
                _bytes[member] = GC.GetAllocatedBytesForCurrentThread() - bytes;
                _failures[member] = null;
            }
            catch (Exception failure)
            {
                _failures[member] = failure;
            }

            lock (_gate)
            {
                _running--;
                Monitor.Pulse(_gate);
            }
        }
    }

    private void Meet(ref int count)
    {
        Interlocked.Increment(ref count);
        var wait = new SpinWait();
        while (Volatile.Read(ref count) < _threads.Length)
        {
            wait.SpinOnce(sleep1Threshold: -1);
        }
    }
}
