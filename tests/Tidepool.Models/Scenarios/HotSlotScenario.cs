using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>One thread opens and closes a hot slot, as sections of a pool do; two take items from it and put others there.</summary>
internal sealed class HotSlotScenario : IScenario
{
    private const int Owner = 0;

    public int Threads => 3;

    public void Attach(Action<string>? hook) => Schedule.Hook = hook;

    public Execution Start(Random random)
    {
        var world = new HotSlotWorld(items: random.Next(1, 4), isOpen: random.Next(2) == 0);
        var threads = new List<Action>();
        for (int thread = 0; thread < Threads; thread++)
        {
            int self = thread;
            int[] program = [.. Enumerable.Range(0, random.Next(3, 9)).Select(_ => random.Next(100))];
            threads.Add(() => Array.ForEach(program, step => Do(world, self, step)));
        }

        return new HotSlotExecution(world, threads);
    }

    private static void Do(HotSlotWorld world, int thread, int step)
    {
        Schedule.Point("step");
        switch (step % (thread == Owner ? 4 : 3))
        {
            case 0 when thread == Owner:
                world.Open();
                break;
            case 1 when thread == Owner:
                world.Drain();
                break;
            case >= 2 when thread == Owner:
                world.Close();
                break;
            case 0:
                world.Take();
                break;
            default:
                world.Put(thread);
                break;
        }
    }

    /// <summary>A slot, and where each item is that does not lie in it.</summary>
    private sealed class HotSlotWorld
    {
        private readonly HotSlot<Item> _slot = new();
        private readonly List<Item> _idle = []; // read and changed between two points
        private readonly int _items;
        private int _inside; // threads between two steps of a protocol

        internal HotSlotWorld(int items, bool isOpen)
        {
            _items = items;
            _idle.AddRange(Enumerable.Range(0, items).Select(static _ => new Item()));
            if (isOpen)
            {
                _slot.Open();
            }
        }

        internal void Open()
        {
            _slot.Open();
            Look();
        }

        internal void Close() => Lay(_slot.Close);

        internal void Drain() => Lay(_slot.Take);

        internal void Take()
        {
            _inside++;
            if (_slot.IsReady)
            {
                Schedule.Point("ready");
                Lay(_slot.Take); // as a renter, which returns it to the others later
            }

            _inside--;
            Look();
        }

        internal void Put(int thread)
        {
            if (!_slot.IsOpen || _idle.Count == 0)
            {
                return;
            }

            Item item = _idle[thread % _idle.Count];
            _idle.Remove(item);
            _inside++;
            Schedule.Point("put");
            Lay(() => _slot.Put(item));
            Schedule.Point("put done");
            Lay(_slot.TakeIfClosed);
            _inside--;
            Look();
        }

        /// <summary>Everybody has ended: all items are there.</summary>
        internal void Check()
        {
            Look();
            Close();
            ResourceWorld.Require(_idle.Count == _items, $"{_idle.Count} items are left of {_items}");
        }

        /// <summary>Keeps what a step gives.</summary>
        private void Lay(Func<Item?> step)
        {
            _inside++;
            Item? item = step();
            _inside--;
            if (item is not null)
            {
                ResourceWorld.Require(!_idle.Contains(item), "an item is in two places");
                _idle.Add(item);
            }

            Look();
        }

        private void Look() =>
            ResourceWorld.Require(_inside > 0 || !_slot.IsClosedWithItem, "an item lies in the closed slot, where no thread looks again");
    }

    private sealed class Item;

    private sealed class HotSlotExecution(HotSlotWorld world, IReadOnlyList<Action> threads) : Execution
    {
        public override IReadOnlyList<Action> Threads => threads;

        public override void Check() => world.Check();

        public override void Abandon()
        {
        }
    }
}
