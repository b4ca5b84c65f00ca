using System.Collections.Concurrent;

namespace Tidepool.Labs;

/// <summary>One way to have many small items of work done; each returns when all are done.</summary>
internal abstract class ItemRunner
{
    /// <summary>A thread for each item.</summary>
    public const string ThreadEach = "new Thread each";

    /// <summary>The thread pool without a task.</summary>
    public const string Queue = "ThreadPool.UnsafeQueueUserWorkItem";

    /// <summary>The thread pool with a task for each item.</summary>
    public const string Tasks = "Task.Run";

    /// <summary>The thread pool and the caller, ranges of items.</summary>
    public const string For = "Parallel.For";

    /// <summary>The thread pool, as many items at a time as there are cores.</summary>
    public const string ForEach = "Parallel.ForEachAsync";

    /// <summary>As many threads as cores that take items from a queue.</summary>
    public const string Dedicated = "dedicated threads";

    /// <summary>All ways.</summary>
    public static IReadOnlyList<string> All { get; } = [ThreadEach, Queue, Tasks, For, ForEach, Dedicated];

    /// <summary>The ways whose items may await: those of the others can only block.</summary>
    public static IReadOnlyList<string> Awaiting { get; } = [Queue, Tasks, ForEach];

    /// <summary>Opens one way.</summary>
    public static ItemRunner Open(string name) => name switch
    {
        ThreadEach => new ThreadForEach(),
        Queue => new QueuedItems(),
        Tasks => new TaskForEach(),
        For => new ParallelFor(),
        ForEach => new ParallelForEach(),
        Dedicated => new DedicatedThreads(),
        _ => throw new ArgumentException($"There is no way '{name}' to run items.", nameof(name)),
    };

    /// <summary>Has items done that do not await.</summary>
    public abstract void Run(int items, Action item);

    /// <summary>Has items done that await.</summary>
    /// <exception cref="NotSupportedException">The way is not one of <see cref="Awaiting"/>.</exception>
    public virtual void Run(int items, Func<Task> item) =>
        throw new NotSupportedException($"{GetType().Name} runs items that do not await.");

    private sealed class ThreadForEach : ItemRunner
    {
        public override void Run(int items, Action item)
        {
            Thread[] threads = new Thread[items];
            for (int i = 0; i < items; i++)
            {
                threads[i] = new Thread(() => item());
                threads[i].Start();
            }

            Array.ForEach(threads, static thread => thread.Join());
        }
    }

    private sealed class QueuedItems : ItemRunner
    {
        public override void Run(int items, Action item)
        {
            using var done = new CountdownEvent(items);
            for (int i = 0; i < items; i++)
            {
                ThreadPool.UnsafeQueueUserWorkItem(
                    static state =>
                    {
                        state.item();
                        state.done.Signal();
                    },
                    (item, done),
                    preferLocal: false);
            }

            done.Wait();
        }

        public override void Run(int items, Func<Task> item)
        {
            using var done = new CountdownEvent(items);
            for (int i = 0; i < items; i++)
            {
                ThreadPool.UnsafeQueueUserWorkItem(static state => _ = RunAsync(state.item, state.done), (item, done), preferLocal: false);
            }

            done.Wait();
        }

        private static async Task RunAsync(Func<Task> item, CountdownEvent done)
        {
            await item().ConfigureAwait(false);
            done.Signal();
        }
    }

    private sealed class TaskForEach : ItemRunner
    {
        public override void Run(int items, Action item)
        {
            Task[] tasks = new Task[items];
            for (int i = 0; i < items; i++)
            {
                tasks[i] = Task.Run(item);
            }

            Task.WaitAll(tasks);
        }

        public override void Run(int items, Func<Task> item)
        {
            Task[] tasks = new Task[items];
            for (int i = 0; i < items; i++)
            {
                tasks[i] = Task.Run(item);
            }

            Task.WaitAll(tasks);
        }
    }

    private sealed class ParallelFor : ItemRunner
    {
        public override void Run(int items, Action item) => Parallel.For(0, items, _ => item());
    }

    private sealed class ParallelForEach : ItemRunner
    {
        public override void Run(int items, Action item) => Parallel.ForEachAsync(Enumerable.Range(0, items), (_, _) =>
        {
            item();
            return default;
        }).GetAwaiter().GetResult();

        public override void Run(int items, Func<Task> item) =>
            Parallel.ForEachAsync(Enumerable.Range(0, items), (_, _) => new ValueTask(item())).GetAwaiter().GetResult();
    }

    /// <summary>The threads live as long as the process, which is why they are made when the way is opened.</summary>
    private sealed class DedicatedThreads : ItemRunner
    {
        private readonly BlockingCollection<(Action Item, CountdownEvent Done)> _queue = [];

        public DedicatedThreads()
        {
            for (int i = 0; i < Environment.ProcessorCount; i++)
            {
                new Thread(Serve) { IsBackground = true, Name = $"dedicated {i + 1}" }.Start();
            }
        }

        public override void Run(int items, Action item)
        {
            using var done = new CountdownEvent(items);
            for (int i = 0; i < items; i++)
            {
                _queue.Add((item, done));
            }

            done.Wait();
        }

        private void Serve()
        {
            foreach (var (item, done) in _queue.GetConsumingEnumerable())
            {
                item();
                done.Signal();
            }
        }
    }
}
