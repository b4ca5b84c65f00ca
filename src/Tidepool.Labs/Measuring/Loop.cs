using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>One timed batch: everything per operation. What a loop cannot know is NaN.</summary>
internal readonly record struct Sample(double Nanoseconds, double Bytes, double Gen0, double Gen1, double Gen2)
{
    /// <summary>The part of the time that renting took, where a loop rents all before it returns all.</summary>
    public double? Renting { get; init; }

    /// <summary>The part of the time that returning took, where a loop rents all before it returns all.</summary>
    public double? Returning { get; init; }

    /// <summary>The sample of a batch of which only the time is known.</summary>
    public static Sample OfTime(double nanoseconds) => new(nanoseconds, double.NaN, double.NaN, double.NaN, double.NaN);

    /// <summary>The sample of a batch of <paramref name="operations"/> operations.</summary>
    public static Sample Of(long ticks, long bytes, in CollectionCounts collections, long operations) => new(
        ticks * (1e9 / Stopwatch.Frequency) / operations,
        (double)bytes / operations,
        (double)collections.Gen0 / operations,
        (double)collections.Gen1 / operations,
        (double)collections.Gen2 / operations);
}

/// <summary>Collections per generation, counted as the runtime does: one of generation 2 counts in all three.</summary>
internal readonly record struct CollectionCounts(int Gen0, int Gen1, int Gen2)
{
    /// <summary>The counts of this process until now.</summary>
    public static CollectionCounts Now() => new(GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2));

    /// <summary>The collections since an earlier reading.</summary>
    public CollectionCounts Since(in CollectionCounts earlier) =>
        new(Gen0 - earlier.Gen0, Gen1 - earlier.Gen1, Gen2 - earlier.Gen2);
}

/// <summary>The loop of one subject in one cell.</summary>
internal abstract class Loop : IDisposable
{
    /// <summary>Length of a timed batch relative to the plan's: loops that start threads need longer ones.</summary>
    public virtual int BatchFactor => 1;

    /// <summary>A batch has a multiple of this many operations.</summary>
    public virtual int Granularity => 1;

    /// <summary>A batch has at least this many operations: where starting it costs so much that fewer would measure the start.</summary>
    public virtual int LeastOperations => 1;

    /// <summary>Runs the operations without measuring.</summary>
    public abstract void Run(int operations);

    /// <summary>Runs the operations and measures them.</summary>
    public abstract Sample Measure(int operations);

    /// <summary>Ends what the loop keeps alive.</summary>
    public virtual void Dispose()
    {
    }
}

/// <summary>A loop that runs on the calling thread.</summary>
internal sealed class SingleThreadLoop(Action<int> body, int granularity = 1) : Loop
{
    /// <inheritdoc/>
    public override int Granularity => granularity;

    /// <inheritdoc/>
    public override void Run(int operations) => body(operations);

    /// <inheritdoc/>
    public override Sample Measure(int operations)
    {
        var collections = CollectionCounts.Now();
        long bytes = GC.GetAllocatedBytesForCurrentThread();
        long start = Stopwatch.GetTimestamp();
        body(operations);
        long ticks = Stopwatch.GetTimestamp() - start;
        bytes = GC.GetAllocatedBytesForCurrentThread() - bytes;
        return Sample.Of(ticks, bytes, CollectionCounts.Now().Since(collections), operations);
    }
}

/// <summary>A loop that hops between threads of the thread pool; the caller waits for its end. It disposes what it holds.</summary>
internal sealed class AsyncLoop(Func<int, Task> body, int batchFactor = 4, IDisposable? holds = null, int leastOperations = 1) : Loop
{
    /// <inheritdoc/>
    public override int BatchFactor => batchFactor;

    /// <inheritdoc/>
    public override int LeastOperations => leastOperations;

    /// <inheritdoc/>
    public override void Run(int operations) => body(operations).GetAwaiter().GetResult();

    /// <inheritdoc/>
    public override Sample Measure(int operations)
    {
        var collections = CollectionCounts.Now();
        long bytes = GC.GetTotalAllocatedBytes(precise: true);
        long start = Stopwatch.GetTimestamp();
        Run(operations);
        long ticks = Stopwatch.GetTimestamp() - start;
        bytes = GC.GetTotalAllocatedBytes(precise: true) - bytes;
        return Sample.Of(ticks, bytes, CollectionCounts.Now().Since(collections), operations);
    }

    /// <inheritdoc/>
    public override void Dispose()
    {
        holds?.Dispose();
        base.Dispose();
    }
}

/// <summary>A loop that ends something with it, such as a server that it needs.</summary>
internal sealed class HoldingLoop(Loop loop, IDisposable holds) : Loop
{
    /// <inheritdoc/>
    public override int BatchFactor => loop.BatchFactor;

    /// <inheritdoc/>
    public override int Granularity => loop.Granularity;

    /// <inheritdoc/>
    public override int LeastOperations => loop.LeastOperations;

    /// <inheritdoc/>
    public override void Run(int operations) => loop.Run(operations);

    /// <inheritdoc/>
    public override Sample Measure(int operations) => loop.Measure(operations);

    /// <inheritdoc/>
    public override void Dispose()
    {
        loop.Dispose();
        holds.Dispose();
        base.Dispose();
    }
}

/// <summary>A loop that several threads run at the same time; its time is the wall time over all of them.</summary>
internal sealed class ParallelLoop(Action<int, int> body, int threads, int granularity = 1) : Loop
{
    /// <inheritdoc/>
    public override int BatchFactor => 3;

    /// <inheritdoc/>
    public override int Granularity => granularity * threads;

    /// <inheritdoc/>
    public override void Run(int operations) => Measure(operations);

    /// <inheritdoc/>
    public override Sample Measure(int operations)
    {
        int share = operations / threads;
        return WorkerCrew.Of(threads).Measure(member => body(member, share), (long)share * threads);
    }
}
