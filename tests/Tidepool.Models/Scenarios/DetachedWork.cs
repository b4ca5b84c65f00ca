using System.Diagnostics.CodeAnalysis;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// What a pool leaves to the thread pool: under a schedule it lies here until one of the threads of the schedule does it.
/// </summary>
internal sealed class DetachedWork
{
    private readonly Queue<IThreadPoolWorkItem> _items = [];

    internal void Add(IThreadPoolWorkItem item) => _items.Enqueue(item);

    internal void Add(Action action) => _items.Enqueue(new Item(action));

    internal bool TryTake([NotNullWhen(true)] out IThreadPoolWorkItem? item)
    {
        Schedule.Point("work");
        return _items.TryDequeue(out item);
    }

    /// <summary>Does the oldest piece, if there is one.</summary>
    internal bool TryDo()
    {
        if (!TryTake(out IThreadPoolWorkItem? item))
        {
            return false;
        }

        item.Execute();
        return true;
    }

    private sealed class Item(Action action) : IThreadPoolWorkItem
    {
        void IThreadPoolWorkItem.Execute() => action();
    }
}
