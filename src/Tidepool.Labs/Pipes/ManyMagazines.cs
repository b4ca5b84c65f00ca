using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>
/// What an epoch of trimming takes where many threads hold magazines of many pools, and how long another thread waits for the gate of the
/// thread tier during one. The threads are parked: nothing is rented.
/// </summary>
internal static class ManyMagazines
{
    /// <summary>Metric: microseconds of the longest epoch, from the first with idle memory to the one that closes the last magazine.
    /// </summary>
    public const string EpochTime = "epoch_us";

    /// <summary>Metric: microseconds of the longest time that another thread waited for the gate during one of these epochs.</summary>
    public const string GateWait = "gate_wait_us";

    /// <summary>Threads that hold magazines.</summary>
    public const int Threads = 256;

    /// <summary>Pools of which each thread holds one.</summary>
    public const int Pools = 20;

    private const int Length = 256;
    private const int Held = 15; // a full magazine
    private const int QuickRepeats = 3;
    private const int FullRepeats = 9;
    private const int MostEpochs = 16;
    private const int FewestTurns = 10;
    private const int StackBytes = 256 << 10;
    private static readonly TimeSpan LongestWait = TimeSpan.FromMilliseconds(1); // what the goal allows

    /// <summary>Measures; the process must be fresh.</summary>
    /// <remarks>
    /// The whole life of the magazines is repeated, with another thread at the gate and without, and of all its epochs the longest counts.
    /// Of an epoch without it that is the median of the repeats, and of a wait the least: the system may take the processor away in any of
    /// them, and what the code holds shows in each.
    /// </remarks>
    public static Dictionary<string, double> Measure(LabMode mode)
    {
        int repeats = mode == LabMode.Full ? FullRepeats : QuickRepeats;
        Trimmer.IsAutomatic = false;
        Run(isWatched: false); // compiles
        Run(isWatched: true);
        Life[] alone = [.. Enumerable.Range(0, repeats).Select(static _ => Run(isWatched: false))];
        Life[] watched = [.. Enumerable.Range(0, repeats).Select(static _ => Run(isWatched: true))];
        Dictionary<string, double> metrics = new() { ["epochs_count"] = alone.Concat(watched).Min(static life => life.Epochs.Count) };
        Add(EpochTime, LongestOf([.. alone.Select(static life => life.Epochs)], repeats / 2));
        Add(GateWait, LongestOf([.. watched.Select(static life => life.Waits)], 0));
        return metrics;

        void Add(string metric, double? value)
        {
            if (value is { } known)
            {
                metrics[metric] = known;
            }
        }
    }

    /// <summary>Of the epochs that all lives have, the longest; of an epoch that of a rank among its repeats.</summary>
    /// <param name="lives">What was measured of the epochs of each life; null where nothing could be.</param>
    /// <param name="rank">How many shorter ones there are.</param>
    /// <returns>Null unless there is one of each epoch.</returns>
    internal static double? LongestOf(IReadOnlyList<IReadOnlyList<double?>> lives, int rank)
    {
        double?[] ranked =
        [
            .. Enumerable.Range(0, lives.Min(static life => life.Count)).Select(
                epoch => lives.Select(life => life[epoch]).Where(static value => value is not null).Order().Skip(rank).FirstOrDefault()),
        ];
        return ranked.Contains(null) ? null : ranked.Max();
    }

    /// <summary>The longest wait of an epoch in which the other thread ran so many turns; null when it ran too seldom to know.</summary>
    /// <param name="turns">How often it asked for the gate.</param>
    /// <param name="longest">The longest wait that it saw.</param>
    /// <param name="epoch">What the epoch took, which no wait for its gate is longer than.</param>
    internal static TimeSpan? WaitOf(int turns, TimeSpan longest, TimeSpan epoch) =>
        turns >= FewestTurns || longest > LongestWait ? longest
        : epoch <= LongestWait ? epoch
        : null;

    private static Life Run(bool isWatched)
    {
        BufferPool<byte>[] pools = [.. Enumerable.Range(0, Pools).Select(static _ => BufferPool<byte>.Create(new() { Budget = 64 << 20 }))];
        using var end = new ManualResetEventSlim();
        using var ready = new CountdownEvent(Threads);
        Thread[] threads = [.. Enumerable.Range(0, Threads).Select(_ => new Thread(
            () =>
            {
                Array.ForEach(pools, RentAndReturn);
                ready.Signal();
                end.Wait();
            },
            StackBytes))];
        Array.ForEach(threads, static thread => thread.Start());
        ready.Wait();
        GC.Collect();
        using Witness? witness = isWatched ? new Witness() : null;
        var life = new Life([], []);
        while (life.Epochs.Count < MostEpochs && Array.Exists(pools, HasMagazine))
        {
            witness?.Begin();
            long started = Stopwatch.GetTimestamp();
            Trimmer.Epoch(all: false);
            TimeSpan epoch = Stopwatch.GetElapsedTime(started);
            life.Epochs.Add(epoch.TotalMicroseconds);
            life.Waits.Add(witness?.Longest(epoch)?.TotalMicroseconds);
        }

        end.Set();
        Array.ForEach(threads, static thread => thread.Join());
        Array.ForEach(pools, static pool => pool.Dispose());
        return life;
    }

    private static bool HasMagazine(BufferPool<byte> pool)
    {
        bool has = false;
        ThreadTier.ForEach(pool.Core.Buckets(), _ => has = true);
        return has;
    }

    private static void RentAndReturn(BufferPool<byte> pool)
    {
        var leases = new BufferLease<byte>[Held];
        for (int i = 0; i < Held; i++)
        {
            leases[i] = pool.Rent(Length);
        }

        Array.ForEach(leases, static lease => lease.Return());
    }

    /// <summary>What was measured of each epoch, in microseconds.</summary>
    private sealed record Life(List<double?> Epochs, List<double?> Waits);

    /// <summary>A thread that asks for the gate again and again, and notes how long it waited.</summary>
    private sealed class Witness : IDisposable
    {
        private const int Asker = 0;
        private const int Waiter = 1;
        private readonly ProcessorSpread _processors = new(members: 2);
        private readonly Thread _thread;
        private long _longest;
        private long _waitsSince; // 0 outside of a wait
        private int _turns;
        private int _turnsBefore;
        private volatile bool _ends;

        public Witness()
        {
            _thread = new Thread(Watch);
            _thread.Start();
        }

        /// <summary>
        /// Forgets what it has seen, and returns when it looks again, from another processor where the system gives it one: beside the
        /// caller it would wait for the processor.
        /// </summary>
        public void Begin()
        {
            AwaitTurn(static () => Thread.Sleep(0));
            _processors.Await(Asker);
            Volatile.Write(ref _longest, 0);
            AwaitTurn(static () => Thread.SpinWait(20)); // a pause that slept could move this thread
            _turnsBefore = Volatile.Read(ref _turns);
        }

        /// <summary>The longest wait since <see cref="Begin"/>; null when the system let the thread run too seldom to know.</summary>
        public TimeSpan? Longest(TimeSpan epoch)
        {
            long since = Volatile.Read(ref _waitsSince);
            long longest = Math.Max(Volatile.Read(ref _longest), since == 0 ? 0 : Stopwatch.GetTimestamp() - since);
            return WaitOf(Volatile.Read(ref _turns) - _turnsBefore, Stopwatch.GetElapsedTime(0, longest), epoch);
        }

        public void Dispose()
        {
            _ends = true;
            _thread.Join();
        }

        private void AwaitTurn(Action pause)
        {
            int seen = Volatile.Read(ref _turns);
            while (Volatile.Read(ref _turns) - seen < 2)
            {
                pause();
            }
        }

        private void Watch()
        {
            while (!_ends)
            {
                _processors.Note(Waiter);
                long started = Stopwatch.GetTimestamp();
                Volatile.Write(ref _waitsSince, started);
                using (ThreadTier.Gate.Hold())
                {
                    Volatile.Write(ref _longest, Math.Max(Volatile.Read(ref _longest), Stopwatch.GetTimestamp() - started));
                }

                Volatile.Write(ref _waitsSince, 0);
                Interlocked.Increment(ref _turns);
                Thread.SpinWait(20);
            }
        }
    }
}
