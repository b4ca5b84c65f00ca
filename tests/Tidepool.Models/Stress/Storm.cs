using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using Tidepool.Models.Pools;

namespace Tidepool.Models.Stress;

/// <summary>
/// Threads that rent, mark, hand over and return as fast as they can, and end and are born, while trims and epochs run and other pools come
/// and go. The first element of each buffer names its renter, 0 for none, so a second renter finds out at once.
/// </summary>
internal abstract class Storm
{
    private static readonly int[] StackSizes = [0, 256 << 10, 1 << 20];

    private readonly int _seed;
    private readonly ConcurrentQueue<string> _faults = new();
    private int _births;
    private int _number;
    private long _rented;
    private long _end;

    protected Storm(int seed, BufferPoolOptions<int> options, CountingSource<int> source)
    {
        _seed = seed;
        Source = source;
        Pool = BufferPool<int>.Create(options);
    }

    protected BufferPool<int> Pool { get; }

    protected CountingSource<int> Source { get; }

    protected bool IsOver => Environment.TickCount64 >= _end;

    /// <summary>
    /// Runs <paramref name="threads"/> threads at a time for about <paramref name="duration"/>, then checks that nothing is lost.
    /// </summary>
    /// <returns>What was done, for the test's output.</returns>
    internal string Run(int threads, TimeSpan duration)
    {
        _end = Environment.TickCount64 + (long)duration.TotalMilliseconds;
        List<Task> crews = Enumerable.Range(0, threads).Select(i => Start(() => LiveAndDie(i), 0)).ToList();
        crews.Add(Start(TrimAndMakePools, 0));
        Task.WaitAll(crews.ToArray(), CancellationToken.None);
        Drain();
        Check();
        return $"{_rented} rentals, {_births} threads";
    }

    /// <summary>Work of one thread's life: <paramref name="steps"/> steps.</summary>
    protected abstract void Live(int place, Random random, int steps);

    /// <summary>Returns what is still on its way between threads.</summary>
    protected abstract void Drain();

    /// <summary>Rents and marks.</summary>
    protected (BufferLease<int> Lease, int Number) Rent(int length)
    {
        BufferLease<int> lease = Pool.Rent(length);
        int number = Interlocked.Increment(ref _number);
        Interlocked.Increment(ref _rented);
        Span<int> span = lease.Span;
        int before = Interlocked.CompareExchange(ref MemoryMarshal.GetReference(span), number, 0);
        if (before != 0)
        {
            Report($"a buffer has two renters: {before} and {number}");
        }

        span[^1] = number;
        return (lease, number);
    }

    /// <summary>Verifies the mark and takes it away; the rental must be returned next.</summary>
    protected void Release(BufferLease<int> lease, int number)
    {
        Span<int> span = lease.Span;
        int last = span[^1];
        span[^1] = span.Length == 1 ? last : 0;
        int first = Interlocked.Exchange(ref MemoryMarshal.GetReference(span), 0);
        if (first != number || last != number)
        {
            Report($"rental {number} has changed under its renter: {first}, {last}");
        }
    }

    protected void Report(string fault) => _faults.Enqueue(fault);

    /// <summary>Lengths of a few classes, from full magazines to those of one item, so that buffers meet.</summary>
    protected static int NextLength(Random random) => random.Next(16) switch
    {
        < 8 => 1 + random.Next(16),
        < 12 => 1000,
        < 15 => 5000,
        _ => 40_000,
    };

    private static Task Start(Action work, int stackSize)
    {
        var ended = new TaskCompletionSource();
        var thread = new Thread(
            () =>
            {
                try
                {
                    work();
                    ended.SetResult();
                }
                catch (Exception e)
                {
                    ended.SetException(e);
                }
            },
            stackSize) { IsBackground = true };
        thread.Start();
        return ended.Task;
    }

    private void LiveAndDie(int place)
    {
        while (!IsOver)
        {
            int birth = Interlocked.Increment(ref _births);
            var random = new Random(_seed + birth);
            Start(() => Live(place, random, random.Next(100, 20_000)), StackSizes[birth % StackSizes.Length]).Wait();
        }
    }

    private void TrimAndMakePools()
    {
        var random = new Random(_seed);
        while (!IsOver)
        {
            switch (random.Next(6))
            {
                case 0:
                    Pool.Trim();
                    break;
                case 1:
                    Trimmer.Epoch(all: true);
                    break;
                case 2:
                    _ = Pool.GetStatistics();
                    break;
                case 3:
                    UseAnotherPool(random.Next(2) == 0);
                    break;
                default:
                    Trimmer.Epoch(all: false);
                    break;
            }

            Thread.Sleep(random.Next(5));
        }
    }

    private static void UseAnotherPool(bool disposes)
    {
        var other = BufferPool<int>.Create();
        BufferLease<int> early = other.Rent(100);
        BufferLease<int> late = other.Rent(100);
        early.Return();
        Task.Run(() => other.Rent(100).Return()).Wait();
        if (disposes)
        {
            other.Dispose();
        }

        late.Return();
    }

    private void Check()
    {
        string last = string.Join("; ", _faults.Take(5));
        Assert.True(_faults.IsEmpty, $"seed {_seed}: {_faults.Count} faults: {last}");
        Pool.Validate();
        Pool.Trim(); // takes in what was posted last
        PoolStatistics statistics = Pool.GetStatistics();
        Assert.True(_rented == statistics.Rented, $"seed {_seed}: {_rented} rentals were made, {statistics.Rented} are counted");
        Assert.True(statistics.Leased == 0, $"seed {_seed}: {statistics.Leased} of {_rented} rentals are out");
        Pool.Trim();
        Assert.True(Source.Live == 0, $"seed {_seed}: {Source.Live} buffers live after the last trim");
        Assert.True(Source.Strangers == 0, $"seed {_seed}: {Source.Strangers} buffers were given back that were not out");
        Pool.Validate();
        Pool.Dispose();
    }
}
