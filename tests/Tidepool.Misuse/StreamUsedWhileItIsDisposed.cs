using System.Reflection;

namespace Tidepool.Misuse;

/// <summary>A thread that goes on writing to a stream while its owner disposes it, and what the owner's next streams see of it.</summary>
public sealed class StreamUsedWhileItIsDisposed
{
    [Fact]
    public void A_new_stream_is_fresh_whatever_was_stored_into_a_core_that_waits()
    {
        byte[] foreign = new byte[5000];
        for (int round = 0; round < 40; round++)
        {
            var raced = new PooledMemoryStream();
            StreamCore core = raced.Core;
            raced.Dispose();
            Disturb(core, round, foreign);
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

        Assert.All(foreign, b => Assert.Equal(0, b));
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
        Assert.Equal(0, race.NotEmpty);
        Assert.InRange(race.Foreign, 0, 20 + (race.Rounds / 200)); // memory that a writer has in hand is beyond our reach
    }

    /// <summary>What a late thread may leave behind: numbers by the fast paths, any reference by the slow ones.</summary>
    private static void Disturb(StreamCore core, int round, byte[] foreign)
    {
        switch (round % 8)
        {
            case 0:
                core.Index = core.DataEnd = 600;
                break;
            case 1:
                core.WriteEnd = 1024;
                core.Capacity = 5000;
                core.StoredLength = 700;
                break;
            case 2:
                core.Array = foreign;
                break;
            case 3:
                core.Flags = StreamFlags.Fixed | StreamFlags.HasScratch;
                core.Origin = 3;
                break;
            case 4:
                core.SegmentCount = 5;
                core.Base = 77;
                break;
            case 5:
                core.ArrayPool = System.Buffers.ArrayPool<byte>.Shared;
                core.Options = new PooledMemoryStreamOptions { MaxLength = 2 };
                core.MaxLength = 2;
                break;
            case 6:
                var table = (StreamSegment[])Field("_segments").GetValue(core)!;
                table[0] = new StreamSegment();
                break;
            default:
                Field("_handedLength").SetValue(core, 100);
                core.LastRead = Task.FromResult(7);
                core.Current = 3;
                break;
        }
    }

    private static FieldInfo Field(string name) => typeof(StreamCore).GetField(name, BindingFlags.Instance | BindingFlags.NonPublic)!;

    /// <summary>Thread W writes to a shared stream all the time; the caller makes it, disposes it and uses a stream that nobody else has.</summary>
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
