using System.Buffers;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Writers;

/// <summary>
/// Random operations of <see cref="IBufferWriter{T}"/> on an <see cref="ArrayBufferWriter{T}"/> and on ours: what is written, what is
/// refused and in which family of exceptions must be equal.
/// </summary>
/// <remarks>
/// Two things differ on purpose. Ours lets <c>Advance</c> take only what was handed out, where <see cref="ArrayBufferWriter{T}"/> takes
/// all that it has room for; so what is drawn is either less than was asked for, or more than either has. And ours names the argument
/// that is out of range.
/// </remarks>
[Collection(SharedPoolsCollection.Name)]
public sealed class WriterComparisonTests(ITestOutputHelper output) : PoolTest
{
    private const int Writers = 400;
    private const int OperationsPerWriter = 60;
    private const int LongestRoom = 1 << 24; // elements; nothing that is drawn makes any writer hand out more

    [Fact]
    public void Bytes() => Compare(random => (byte)random.Next(256), withStreams: true);

    [Fact]
    public void Numbers() => Compare(random => random.NextInt64(), withStreams: false);

    [Fact]
    public void Structs_of_an_odd_size() =>
        Compare(random => new Odd((byte)random.Next(256), (short)random.Next(1000)), withStreams: false);

    [Fact]
    public void References() => Compare<string?>(random => random.Next(5) == 0 ? null : $"{random.Next()}", withStreams: false);

    private void Compare<T>(Func<Random, T> draw, bool withStreams)
    {
        Random random = Seeds.New(output);
        BufferPool<T> pool = NewPool<T>();
        for (int number = 0; number < Writers; number++)
        {
            int seed = random.Next();
            var theirs = new ArrayBufferWriter<T>();
            IBufferWriter<T> ours = Make(new Random(seed), pool, withStreams);
            var pair = new Pair<T>(theirs, ours, new Random(seed), draw);
            for (int i = 0; i < OperationsPerWriter; i++)
            {
                string act = pair.Act();
                Assert.True(
                    theirs.WrittenSpan.SequenceEqual(Written(ours)),
                    $"{ours.GetType().Name} number {number}, seed {seed}, operation {i}, {act}: {theirs.WrittenCount} elements were "
                        + "written, and ours holds others.");
            }

            ((IDisposable)ours).Dispose();
        }
    }

    private static IBufferWriter<T> Make<T>(Random random, BufferPool<T> pool, bool withStreams) => random.Next(withStreams ? 8 : 5) switch
    {
        0 => new PooledBufferWriter<T>(),
        1 => new PooledBufferWriter<T>(pool),
        2 => new PooledBufferWriter<T>(pool, initialCapacity: random.Next(1000)),
        3 => new PooledSequenceWriter<T>(),
        4 => new PooledSequenceWriter<T>(pool, maxLength: 10_000_000),
        5 => (IBufferWriter<T>)(object)new PooledMemoryStream(),
        6 => (IBufferWriter<T>)(object)PooledMemoryStream.Rent(),
        _ => (IBufferWriter<T>)(object)new PooledMemoryStream((BufferPool<byte>)(object)pool),
    };

    private static T[] Written<T>(IBufferWriter<T> writer) => writer switch
    {
        PooledBufferWriter<T> contiguous => contiguous.WrittenSpan.ToArray(),
        PooledSequenceWriter<T> segmented => segmented.GetReadOnlySequence().ToArray(),
        PooledMemoryStream stream => (T[])(object)stream.ToArray(),
        _ => throw new ArgumentException("An unknown writer.", nameof(writer)),
    };

    /// <summary>Writes by the writer's own method, or by the one that every writer has.</summary>
    private static void Write<T>(IBufferWriter<T> writer, T[] elements, bool ownWrite)
    {
        switch (writer)
        {
            case PooledBufferWriter<T> contiguous when ownWrite:
                contiguous.Write(elements);
                break;
            case PooledSequenceWriter<T> segmented when ownWrite:
                segmented.Write(elements);
                break;
            default:
                writer.Write(elements);
                break;
        }
    }

    private static void Reset<T>(IBufferWriter<T> writer)
    {
        switch (writer)
        {
            case PooledBufferWriter<T> contiguous:
                contiguous.Reset();
                break;
            case PooledSequenceWriter<T> segmented:
                segmented.Reset();
                break;
            default:
                ((PooledMemoryStream)(object)writer).SetLength(0);
                break;
        }
    }

    [StructLayout(LayoutKind.Sequential, Pack = 1)]
    private readonly record struct Odd(byte First, short Second);

    /// <summary>One operation on both.</summary>
    private sealed class Pair<T>(ArrayBufferWriter<T> theirs, IBufferWriter<T> ours, Random random, Func<Random, T> draw)
    {
        private int _open; // what both were asked for and not yet advanced over
        private int _most; // no more than this was handed out by ours and not yet advanced over

        public string Act()
        {
            int count = random.Next(8) == 0 ? random.Next(6000) : random.Next(100);
            switch (random.Next(10))
            {
                case < 3:
                    Ask(count, asSpan: random.Next(2) == 0);
                    return $"asked for {count}";
                case < 6:
                    int part = random.Next(_open + 1);
                    return Both($"advanced by {part}", writer => writer.Advance(part), part);
                case 6:
                    T[] elements = Elements(count);
                    (_open, _most) = (0, LongestRoom);
                    bool ownWrite = random.Next(2) == 0;
                    return Both($"wrote {count}", writer => Write(writer, elements, ownWrite), 0);
                case 7:
                    int tooMuch = Math.Max(theirs.FreeCapacity, _most) + 1 + random.Next(10);
                    return Both($"advanced by {tooMuch}", writer => writer.Advance(tooMuch), 0);
                case 8:
                    int negative = -1 - random.Next(10);
                    return random.Next(3) switch
                    {
                        0 => Both($"advanced by {negative}", writer => writer.Advance(negative), 0),
                        1 => Both($"asked for {negative}", writer => writer.GetSpan(negative), 0),
                        _ => Both($"asked for {negative}", writer => writer.GetMemory(negative), 0),
                    };
                default:
                    if (random.Next(4) != 0)
                    {
                        return Both("asked for too much", writer => writer.GetMemory(int.MaxValue), 0);
                    }

                    theirs.Clear();
                    Reset(ours);
                    _open = _most = 0;
                    return "reset";
            }
        }

        private void Ask(int count, bool asSpan)
        {
            T[] elements = Elements(Math.Max(count, 1));
            foreach (IBufferWriter<T> writer in new[] { theirs, ours })
            {
                Span<T> room = asSpan ? writer.GetSpan(count) : writer.GetMemory(count).Span;
                Assert.True(room.Length >= elements.Length, $"{room.Length} elements came when {count} were asked for.");
                elements.CopyTo(room);
                _most = room.Length; // the last one is ours
            }

            _open = elements.Length;
        }

        private T[] Elements(int count)
        {
            T[] elements = new T[count];
            for (int i = 0; i < count; i++)
            {
                elements[i] = draw(random);
            }

            return elements;
        }

        private string Both(string act, Action<IBufferWriter<T>> call, int advanced)
        {
            (string expected, string found) = (Outcome(theirs, call), Outcome(ours, call));
            Assert.True(expected == found, $"{act}: {expected} by ArrayBufferWriter, {found} by {ours.GetType().Name}.");
            _open -= advanced;
            _most -= advanced;
            return act;
        }

        private static string Outcome(IBufferWriter<T> writer, Action<IBufferWriter<T>> call)
        {
            try
            {
                call(writer);
                return "done";
            }
            catch (Exception e) when (e is ArgumentException or InvalidOperationException or OutOfMemoryException)
            {
                return e is ArgumentException ? "a wrong argument" : e is OutOfMemoryException ? "no such memory" : "refused";
            }
        }
    }
}
