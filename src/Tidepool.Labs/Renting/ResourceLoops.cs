namespace Tidepool.Labs;

/// <summary>The loops of one kind of pool of resources.</summary>
internal static class ResourceLoops<TSubject, TItem>
    where TSubject : struct, IResourceSubject<TSubject, TItem>
{
    /// <summary>One caller, one thread, synchronously.</summary>
    public static Loop One(int size)
    {
        TSubject subject = TSubject.Open(size);
        return new SingleThreadLoop(operations =>
        {
            for (int i = 0; i < operations; i++)
            {
                TItem item = subject.Rent();
                subject.Use(item);
                subject.Return(item);
            }
        });
    }

    /// <summary>One caller that awaits; it never has to wait.</summary>
    public static Loop OneAsync(int size)
    {
        TSubject subject = TSubject.Open(size);
        return new SingleThreadLoop(operations => RunAsync(subject, operations).GetAwaiter().GetResult());
    }

    /// <summary>One caller that awaits two at a time; it never has to wait.</summary>
    public static Loop TwoAsync(int size)
    {
        TSubject subject = TSubject.Open(size);
        return new SingleThreadLoop(operations => RunTwoAsync(subject, operations).GetAwaiter().GetResult(), granularity: 2);
    }

    /// <summary>Many callers on few resources; each gives up its thread while it holds one, and starting it is the least part.</summary>
    public static Loop Many(int callers, int size)
    {
        const int Turns = 50;
        TSubject subject = TSubject.Open(size);
        return new AsyncLoop(RunAll, leastOperations: callers * Turns);

        Task RunAll(int operations) => Task.WhenAll(Enumerable.Range(0, callers).Select(i => Task.Run(async () =>
        {
            int share = (operations / callers) + (i < operations % callers ? 1 : 0);
            for (int turn = 0; turn < share; turn++)
            {
                TItem item = await subject.RentAsync().ConfigureAwait(false);
                subject.Use(item);
                await Task.Yield();
                subject.Return(item);
            }
        })));
    }

    /// <summary>Threads of their own on fewer resources, synchronously.</summary>
    public static Loop Threads(int threads, int size)
    {
        TSubject subject = TSubject.Open(size);
        return new ParallelLoop(
            (_, operations) =>
            {
                for (int i = 0; i < operations; i++)
                {
                    TItem item = subject.Rent();
                    subject.Use(item);
                    subject.Return(item);
                }
            },
            threads);
    }

    /// <summary>Callers that hold a resource for 5 ms each.</summary>
    public static Loop Work(int callers, int size)
    {
        TSubject subject = TSubject.Open(size);
        return new AsyncLoop(_ => Task.WhenAll(Enumerable.Range(0, callers).Select(async _ =>
        {
            TItem item = await subject.RentAsync().ConfigureAwait(false);
            await Task.Delay(5).ConfigureAwait(false);
            subject.Use(item);
            subject.Return(item);
        })));
    }

    /// <summary>
    /// How long single rentals wait when many callers share few resources, counted in turns: one turn is one return of any resource. Each
    /// return writes its number on the resource, so its next renter knows which return served it, however late its thread goes on: the
    /// order of the pool is measured, not that of the thread pool.
    /// </summary>
    public static Dictionary<string, double> Fairness(int callers, int size, int turns)
    {
        TSubject subject = TSubject.Open(size);
        long[][] waits = new long[callers][];
        long returns = 0;
        Task.WhenAll(Enumerable.Range(0, callers).Select(i => Task.Run(async () =>
        {
            long[] mine = waits[i] = new long[turns];
            for (int turn = 0; turn < turns; turn++)
            {
                long asked = Volatile.Read(ref returns);
                TItem item = await subject.RentAsync().ConfigureAwait(false);
                mine[turn] = Math.Max(0, subject.Of(item).Turn - asked);
                subject.Use(item);
                await Task.Yield();
                subject.Of(item).Turn = Interlocked.Increment(ref returns);
                subject.Return(item);
            }
        }))).GetAwaiter().GetResult();

        // The first and the last turns meet an empty or a draining queue.
        long[] all = [.. waits.SelectMany(mine => mine.Skip(turns / 10).Take(turns * 8 / 10)).Order()];
        double half = Math.Max(1, all[all.Length / 2]);
        double most = all[(int)(all.Length * 0.999)];
        return new() { [ResourceProbes.Spread] = most / half, ["p50_turns"] = half, ["p99.9_turns"] = most, ["most_turns"] = all[^1] };
    }

    private static async Task RunTwoAsync(TSubject subject, int operations)
    {
        for (int i = 0; i < operations; i += 2)
        {
            TItem first = await subject.RentAsync().ConfigureAwait(false);
            TItem second = await subject.RentAsync().ConfigureAwait(false);
            subject.Use(first);
            subject.Use(second);
            subject.Return(second);
            subject.Return(first);
        }
    }

    private static async Task RunAsync(TSubject subject, int operations)
    {
        for (int i = 0; i < operations; i++)
        {
            TItem item = await subject.RentAsync().ConfigureAwait(false);
            subject.Use(item);
            subject.Return(item);
        }
    }
}
