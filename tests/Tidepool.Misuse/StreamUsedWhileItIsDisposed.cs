using System.Buffers;

namespace Tidepool.Misuse;

/// <summary>A thread that goes on writing to a stream while its owner disposes it, and what the owner's next streams see of it.</summary>
public sealed class StreamUsedWhileItIsDisposed
{
    [Fact]
    public void A_new_stream_is_fresh_whatever_was_stored_into_a_core_that_waits()
    {
        for (int round = 0; round < 40; round++)
        {
            var raced = new PooledMemoryStream();
            StreamCore core = raced.Core;
            raced.Dispose();
            Disturb(core, round);
            bool wasUsed = false;
            for (int i = 0; i < 2 * Magazine.RestingPlaces; i++)
            {
                using var fresh = new PooledMemoryStream();
                wasUsed |= fresh.Core == core;
                Assert.Null(fresh.FindFault());
                Assert.Equal((0, 0, 0), (fresh.Length, fresh.Position, fresh.Capacity));
                Assert.True(fresh.CanWrite);
                fresh.Write([1, 2, 3]);
                fresh.Write(new byte[3000]);
                Assert.Equal([1, 2, 3], fresh.ToArray()[..3]);
                Assert.Null(fresh.FindFault());
            }

            Assert.True(wasUsed, $"round {round}: the disturbed core served no stream");
        }
    }

    [Fact]
    public void A_core_rests_behind_others_and_is_closed_meanwhile()
    {
        for (int warm = 0; warm < 20; warm++)
        {
            new PooledMemoryStream().Dispose();
        }

        var first = new PooledMemoryStream();
        StreamCore core = first.Core;
        first.Write([1]);
        first.Dispose();
        Assert.False(core.IsWritable);
        Assert.True(core.WriteEnd < 0 && core.DataEnd < 0);
        for (int i = 0; i < Magazine.RestingPlaces - 1; i++)
        {
            using var other = new PooledMemoryStream();
            Assert.NotSame(core, other.Core);
        }
    }

    [Theory]
    [Trait("Category", "Slow")]
    [InlineData(false, 600)]
    [InlineData(false, 20_000)]
    [InlineData(true, 600)]
    [InlineData(true, 20_000)]
    public void A_stream_that_only_its_owner_has_begins_empty_and_works(bool isRented, int size)
    {
        var race = new Race(isRented, size);
        race.Run(rounds: 300_000, limit: TimeSpan.FromSeconds(6));
        Assert.Empty(race.Failures);
        Assert.InRange(race.NotEmpty, 0, 2); // a writer may be held up inside a fast path for eight streams; that is beyond our reach
        Assert.InRange(race.Foreign, 0, 20 + (race.Rounds / 200)); // and so is memory that a writer has in hand
    }

    /// <summary>The members that change a stream in several steps, each with a stream of 3,000 bytes at its start.</summary>
    public static TheoryData<string> Changes =>
    [
        "Write", "SetLength", "Reserve", "Capacity", "Position", "Read", "CopyTo", "Append", "GetMemory", "Advance", "Detach", "GetBuffer",
        "TryReset",
    ];

    [Theory]
    [MemberData(nameof(Changes))]
    public void A_disposal_within_a_change_leaves_the_memory_to_it(string change)
    {
        var arrays = new DisposingArrays();
        var stream = new PooledMemoryStream(arrays);
        stream.Write(new byte[500]);
        stream.Write(new byte[2500]); // another segment
        if (change == "Advance")
        {
            stream.Position = 10;
            stream.GetSpan(3000).Clear(); // lies apart from the content, so advancing copies it
        }

        arrays.Stream = stream;
        StreamCore core = stream.Core;
        Exception? failure = Record.Exception(() => Change(stream, change));
        arrays.Stream = null;
        stream.Dispose();
        Assert.True(failure is null or ObjectDisposedException, failure?.ToString());
        Assert.Equal((0, 0), (arrays.Out, arrays.Foreign));
        Assert.False(stream.CanWrite);
        bool isBack = false;
        for (int i = 0; i < 2 * Magazine.RestingPlaces; i++)
        {
            using var fresh = new PooledMemoryStream();
            isBack |= fresh.Core == core;
            Assert.Equal((0, 0, 0), (fresh.Length, fresh.Position, fresh.Capacity));
            fresh.Write(new byte[3000]);
            Assert.Null(fresh.FindFault());
        }

        Assert.True(isBack, "the core did not come back");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_disposal_does_not_wait_for_a_change_of_another_thread(bool isLease)
    {
        var arrays = new WaitingArrays();
        using BufferPool<byte> pool = BufferPool<byte>.Create(new BufferPoolOptions<byte> { Source = arrays });
        using StreamLease lease = isLease ? PooledMemoryStream.RentLease(new PooledMemoryStreamOptions { Pool = pool }) : default;
        PooledMemoryStream stream = isLease ? lease.Stream : new PooledMemoryStream(new PooledMemoryStreamOptions { Pool = pool });
        var changer = new Thread(() => Record.Exception(() => stream.SetLength(100_000))) { IsBackground = true };
        changer.Start();
        arrays.Begun.Wait();
        stream.Dispose();
        lease.Dispose();
        for (int i = 0; i < 2 * Magazine.RestingPlaces; i++)
        {
            using var fresh = new PooledMemoryStream();
            Assert.Equal(0, fresh.Length);
        }

        arrays.GoesOn.Set();
        changer.Join();
        Assert.Equal((0, 1), (pool.GetStatistics().Leased, pool.GetStatistics().Returned));
    }

    private static void Change(PooledMemoryStream stream, string change)
    {
        switch (change)
        {
            case "Write":
                stream.Write(new byte[50_000]);
                break;
            case "SetLength":
                stream.SetLength(50_000);
                break;
            case "Reserve":
                stream.Reserve(50_000);
                break;
            case "Capacity":
                stream.Capacity = 50_000;
                stream.Write(new byte[50_000]);
                break;
            case "Position":
                stream.Position = 50_000;
                stream.WriteByte(1);
                break;
            case "Read":
                stream.SetLength(50_000);
                stream.Position = 0;
                stream.ReadExactly(new byte[50_000]);
                break;
            case "CopyTo":
                stream.Position = 0;
                stream.CopyTo(Stream.Null);
                stream.Write(new byte[50_000]);
                break;
            case "Append":
                stream.Append(new byte[50_000]);
                stream.Position = 3000;
                stream.Write(new byte[10]); // makes a copy of what was appended
                break;
            case "GetMemory":
                Assert.Throws<ObjectDisposedException>(() => stream.GetMemory(50_000));
                break;
            case "Advance":
                stream.Advance(3000);
                stream.Position = 6000;
                stream.GetMemory(50_000);
                break;
            case "Detach":
                stream.Detach().Dispose();
                stream.Write(new byte[50_000]);
                break;
            case "GetBuffer":
                Assert.Throws<ObjectDisposedException>(() => stream.GetBuffer());
                break;
            default:
                stream.TryReset();
                stream.Write(new byte[50_000]);
                break;
        }
    }

    /// <summary>Stores what a late thread may leave behind on a fast path: numbers of the window, and its last result.</summary>
    private static void Disturb(StreamCore core, int round)
    {
        switch (round % 4)
        {
            case 0:
                core.Index = core.DataEnd = 600;
                break;
            case 1:
                core.WriteEnd = 1024;
                core.Capacity = 5000;
                break;
            case 2:
                core.Index = 1_000_000;
                break;
            default:
                core.LastRead = Task.FromResult(7);
                core.DataEnd = 1024;
                break;
        }
    }

    /// <summary>Disposes a stream as soon as it asks for an array or returns one.</summary>
    private sealed class DisposingArrays : ArrayPool<byte>
    {
        private readonly HashSet<byte[]> _out = [];

        public PooledMemoryStream? Stream { get; set; }

        public int Out => _out.Count;

        public int Foreign { get; private set; }

        public override byte[] Rent(int minimumLength)
        {
            Stream?.Dispose();
            byte[] array = new byte[minimumLength];
            _out.Add(array);
            return array;
        }

        public override void Return(byte[] array, bool clearArray = false)
        {
            Stream?.Dispose();
            Foreign += _out.Remove(array) ? 0 : 1;
        }
    }

    /// <summary>Waits with an array until the test lets it go on.</summary>
    private sealed class WaitingArrays : BufferSource<byte>
    {
        public ManualResetEventSlim Begun { get; } = new();

        public ManualResetEventSlim GoesOn { get; } = new();

        public override BufferForm Form => BufferForm.WholeArray;

        public override SourceBuffer<byte> Allocate(int length, int alignment)
        {
            Begun.Set();
            GoesOn.Wait();
            return new SourceBuffer<byte>(new byte[length], 0, length);
        }

        public override void Free(in SourceBuffer<byte> buffer)
        {
        }
    }

    /// <summary>
    /// Thread W writes to a shared stream all the time; the caller makes it, disposes it and uses a stream of its own.
    /// </summary>
    private sealed class Race(bool isRented, int size)
    {
        private readonly byte[] _theirs = Filled(size, 0xAA);
        private readonly byte[] _mine = Filled(size, 0xBB);
        private readonly byte[] _back = new byte[size];
        private PooledMemoryStream? _shared;
        private bool _stops;

        public List<string> Failures { get; } = [];

        public long NotEmpty { get; private set; }

        public long Foreign { get; private set; }

        public long Rounds { get; private set; }

        public void Run(int rounds, TimeSpan limit)
        {
            var writer = new Thread(Write) { IsBackground = true };
            writer.Start();
            var clock = System.Diagnostics.Stopwatch.StartNew();
            var random = new Random(1);
            for (; Rounds < rounds && clock.Elapsed < limit && Failures.Count < 10; Rounds++)
            {
                PooledMemoryStream shared = Make();
                Volatile.Write(ref _shared, shared);
                Thread.SpinWait(random.Next(20, 200));
                Try(shared.Dispose);
                Try(UseMine);
            }

            Volatile.Write(ref _stops, true);
            writer.Join();
        }

        private static byte[] Filled(int size, byte value)
        {
            byte[] array = new byte[size];
            Array.Fill(array, value);
            return array;
        }

        private PooledMemoryStream Make() => isRented ? PooledMemoryStream.Rent() : new PooledMemoryStream();

        private void UseMine()
        {
            PooledMemoryStream mine = Make();
            NotEmpty += mine.Length == 0 ? 0 : 1;
            mine.Write(_mine);
            mine.Position = 0;
            int read = mine.Read(_back, 0, size);
            Foreign += read == size && _back.AsSpan().SequenceEqual(_mine) ? 0 : 1;
            mine.Dispose();
        }

        private void Try(Action action)
        {
            try
            {
                action();
            }
            catch (Exception e)
            {
                Failures.Add(e.ToString());
            }
        }

        private void Write()
        {
            while (!Volatile.Read(ref _stops))
            {
                if (Volatile.Read(ref _shared) is not { } stream)
                {
                    continue;
                }

                try
                {
                    while (!Volatile.Read(ref _stops))
                    {
                        stream.Position = 0;
                        stream.Write(_theirs);
                    }
                }
                catch (Exception)
                {
                    Interlocked.CompareExchange(ref _shared, null, stream); // it was disposed: as it should be
                }
            }
        }
    }
}
