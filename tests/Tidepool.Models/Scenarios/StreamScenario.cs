using System.Buffers;
using System.Text;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>
/// One or two threads change a stream in the ways that take several steps while another disposes of it, and then uses as many streams
/// of its own as it takes for the same core to serve again.
/// </summary>
internal sealed class StreamScenario : IScenario
{
    private const int Changes = 6;

    public int Threads => 3;

    public void Attach(Action<string>? hook) => World.Attach(hook);

    public Execution Start(Random random)
    {
        var execution = new StreamExecution(random.Next(2) == 0);
        int misusers = random.Next(1, Threads);
        for (int i = 0; i < misusers; i++)
        {
            execution.AddMisuser([.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => (random.Next(Changes), random.Next(5_000)))]);
        }

        return execution;
    }

    private static void Change(PooledMemoryStream stream, int what, int size)
    {
        switch (what)
        {
            case 0:
                stream.SetLength(size);
                break;
            case 1:
                stream.Reserve(size);
                break;
            case 2:
                stream.Seek(StreamCore.AttachedLength + size, SeekOrigin.Begin);
                break;
            case 3:
                stream.Capacity = 5_000 + size;
                break;
            case 4:
                stream.Append(new byte[size + 1]);
                break;
            default:
                stream.TryReset();
                break;
        }
    }

    private sealed class StreamExecution : Execution
    {
        private readonly List<Action> _threads = [];
        private readonly StringBuilder _log = new();
        private readonly Arrays _arrays = new();
        private readonly StreamLease _lease;
        private readonly PooledMemoryStream _shared;
        private readonly long _leased;

        internal StreamExecution(bool leases)
        {
            _log.Append(leases ? "a lease:" : "a new stream:");
            _leased = StreamPool.Instance.GetStatistics().Leased;
            _lease = leases ? PooledMemoryStream.RentLease() : default;
            _shared = leases ? _lease.Stream : new PooledMemoryStream(_arrays);
            _threads.Add(DisposeAndGoOn);
        }

        public override IReadOnlyList<Action> Threads => _threads;

        public override void Check()
        {
            _arrays.Check(mayLose: _threads.Count > 2); // of two that change a stream at once, one may overwrite what the other has rented
            StreamPool.Instance.Validate();
            long leased = StreamPool.Instance.GetStatistics().Leased;
            Expect(leased == _leased, $"{leased - _leased} cores did not come back");
        }

        public override void Abandon()
        {
        }

        public override string ToString() => _log.ToString();

        internal void AddMisuser((int What, int Size)[] program)
        {
            _log.Append($"\n  T{_threads.Count} {string.Join(", ", program)}");
            _threads.Add(() =>
            {
                foreach ((int what, int size) in program)
                {
                    Schedule.Point("between");
                    try
                    {
                        Change(_shared, what, size);
                    }
                    catch (Exception e) when (e is ObjectDisposedException or NotSupportedException)
                    {
                        return;
                    }
                    catch (Exception e) when (e is not ScheduleException)
                    {
                        // Two threads that change one stream at once misuse it.
                    }
                }
            });
        }

        private void DisposeAndGoOn()
        {
            Schedule.Point("between");
            _shared.Dispose();
            _lease.Dispose();
            for (int i = 0; i <= Magazine.RestingPlaces; i++)
            {
                using var mine = new PooledMemoryStream();
                UseMine(mine);
            }
        }

        private static void UseMine(PooledMemoryStream mine)
        {
            Schedule.Point("mine");
            bool isEmpty = mine.Length == 0 && mine.Position == 0 && mine.Capacity == 0;
            Expect(isEmpty, $"a new stream has length {mine.Length}, position {mine.Position}");
            mine.Write([1, 2, 3]);
            Schedule.Point("mine");
            mine.SetLength(1_500);
            Schedule.Point("mine");
            Expect(mine.FindFault() is null, $"a stream that no other thread has: {mine.FindFault()}");
            bool isWhole = mine.ToArray().AsSpan().StartsWith((ReadOnlySpan<byte>)[1, 2, 3, 0]);
            Expect(isWhole, "a stream that no other thread has lost its content");
        }

        private static void Expect(bool condition, string otherwise)
        {
            if (!condition)
            {
                throw new ScheduleException(otherwise);
            }
        }

        /// <summary>Gives new arrays, and takes each back once.</summary>
        private sealed class Arrays : ArrayPool<byte>
        {
            private readonly HashSet<byte[]> _out = [];
            private int _twice;

            public override byte[] Rent(int minimumLength)
            {
                Schedule.Point("rent");
                byte[] array = new byte[minimumLength];
                lock (_out)
                {
                    _out.Add(array);
                }

                return array;
            }

            public override void Return(byte[] array, bool clearArray = false)
            {
                Schedule.Point("return");
                lock (_out)
                {
                    _twice += _out.Remove(array) ? 0 : 1; // not thrown: the exception would go to the thread that misuses the stream
                }
            }

            internal void Check(bool mayLose)
            {
                Expect(_twice == 0, "an array was returned twice");
                Expect(mayLose || _out.Count == 0, $"{_out.Count} arrays were never returned");
            }
        }
    }
}
