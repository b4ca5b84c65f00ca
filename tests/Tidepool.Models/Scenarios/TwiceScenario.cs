using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// Threads return raw objects to a pool whose budget is tight, some of them twice and at once: of the returns of one object one is
/// accepted.
/// </summary>
internal sealed class TwiceScenario : IScenario
{
    private const int Budget = 16;
    private const int Raced = 5; // fewer than an open chunk has room for

    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var world = new TwiceWorld();
        var threads = new List<Action>();
        for (int i = 0; i < Threads; i++)
        {
            int thread = i;
            int[] program = [.. Enumerable.Range(0, random.Next(1, 6)).Select(_ => random.Next(Raced))];
            threads.Add(() => Array.ForEach(program, item => world.Return(thread, item)));
        }

        return new TwiceExecution(world, threads);
    }

    private sealed class TwiceExecution(TwiceWorld world, IReadOnlyList<Action> threads) : Execution
    {
        public override IReadOnlyList<Action> Threads => threads;

        public override void Check() => world.Check();

        public override void Abandon() => world.Abandon();

        public override string ToString() => world.ToString();
    }

    [SuppressMessage("Design", "CA1001", Justification = "The pool is disposed, or abandoned, with its schedule.")]
    private sealed class TwiceWorld
    {
        private static readonly List<object> Abandoned = [];

        private readonly SimpleObjectPool<Item> _pool = new(new() { Budget = Budget, LeakSampling = 0, Checks = PoolChecks.Default });
        private readonly Item[] _items;
        private readonly StringBuilder _log = new();

        internal TwiceWorld()
        {
            // The places of this thread use the budget up; what is returned beyond them takes them back.
            Array.ForEach(RentAll(), _pool.ReturnRaw);
            _items = RentAll();
            Expect(_pool.Core.IsTight, "the budget is not tight");
        }

        internal void Return(int thread, int which)
        {
            Schedule.Point("between");
            Item item = _items[which];
            Interlocked.Increment(ref item.Begun);
            bool isAccepted = true;
            try
            {
                _pool.ReturnRaw(item);
                Interlocked.Increment(ref item.Accepted);
            }
            catch (PoolMisuseException)
            {
                isAccepted = false;
            }

            lock (_log)
            {
                _log.Append(CultureInfo.InvariantCulture, $"\n  T{thread} return of {which}: {(isAccepted ? "accepted" : "refused")}");
            }
        }

        internal void Check()
        {
            Expect(
                Array.TrueForAll(_items, static i => i.Accepted == Math.Min(i.Begun, 1)),
                "the returns of one object that were accepted are not one");
            PoolStatistics statistics = _pool.GetStatistics();
            int idle = _items.Sum(static i => i.Accepted);
            Expect((statistics.Idle, statistics.Leased) == (idle, Budget - idle), $"{statistics.Idle} of {idle} objects are idle");
            Expect(
                statistics.GetMisuse(MisuseKind.DoubleReturn) == _items.Sum(static i => i.Begun - i.Accepted),
                "a return that was refused is not counted, or one is that was not");
            _pool.Validate();
            Array.ForEach(Array.FindAll(_items, static i => i.Begun == 0), _pool.ReturnRaw);
            Expect(RentAll().Distinct().Count() == Budget, "an object has two renters");
            _pool.Dispose();
            _pool.Validate();
            Expect(_pool.Core.Budget.Used == 0, "bytes are charged to the budget of a pool that was disposed");
        }

        internal void Abandon() => Abandoned.Add(_pool);

        public override string ToString() => _log.ToString();

        private Item[] RentAll() => [.. Enumerable.Range(0, Budget).Select(_ => _pool.RentRaw())];

        private static void Expect(bool condition, string otherwise)
        {
            if (!condition)
            {
                throw new ScheduleException(otherwise);
            }
        }
    }

    private sealed class Item
    {
        internal int Begun;
        internal int Accepted;
    }
}
