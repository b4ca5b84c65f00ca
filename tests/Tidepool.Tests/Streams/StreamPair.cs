using System.Buffers;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Streams;

/// <summary>A <see cref="MemoryStream"/> and a <see cref="PooledMemoryStream"/> that were made alike.</summary>
internal sealed record StreamPair(string Kind, MemoryStream Theirs, PooledMemoryStream Ours)
{
    private const int Kinds = 18;

    /// <summary>Whether the content is the caller's array, which both give also when they are disposed.</summary>
    public bool IsOverArray { get; init; }

    /// <summary>Whether the streams may grow.</summary>
    public bool IsExpandable { get; init; } = true;

    public static StreamPair New(
        Random random, BufferPool<byte> arrays, BufferPool<byte> slabs, BufferPool<byte> native, ArrayPool<byte> raw)
    {
        int capacity = random.Next(3) == 0 ? 0 : random.Next(5000);
        byte[] array = new byte[random.Next(300)];
        random.NextBytes(array);
        int index = random.Next(array.Length + 1);
        int count = random.Next(array.Length - index + 1);
        bool writable = random.Next(3) != 0;
        bool visible = random.Next(2) == 0;
        return random.Next(Kinds) switch
        {
            0 => new("rented", new MemoryStream(), PooledMemoryStream.Rent()),
            1 => new("capacity", new MemoryStream(capacity), new PooledMemoryStream(capacity)),
            2 => OverArray("array", new MemoryStream((byte[])array.Clone(), false), new PooledMemoryStream(array)),
            3 => OverArray("writable array", new MemoryStream((byte[])array.Clone(), writable), new PooledMemoryStream(array, writable)),
            4 => OverArray("part", new MemoryStream((byte[])array.Clone(), index, count), new PooledMemoryStream(array, index, count)),
            5 =>
                OverArray(
                    "visible part",
                    new MemoryStream((byte[])array.Clone(), index, count, writable, visible),
                    new PooledMemoryStream(array, index, count, writable, visible)),
            6 => new("pool", new MemoryStream(capacity), new PooledMemoryStream(arrays, capacity)),
            7 => new("slabs", new MemoryStream(), new PooledMemoryStream(slabs)),
            8 => new("array pool", new MemoryStream(capacity), new PooledMemoryStream(raw, capacity)),
            9 =>
                new(
                    "options",
                    new MemoryStream(),
                    new PooledMemoryStream(new PooledMemoryStreamOptions { InitialSize = random.Next(5000), ZeroOnReturn = true })),
            10 => new("native", new MemoryStream(), new PooledMemoryStream(native)),
            11 => new("shared array pool", new MemoryStream(capacity), new PooledMemoryStream(ArrayPool<byte>.Shared, capacity)),
            12 =>
                new(
                    "read-only memory",
                    new MemoryStream(array.AsSpan(index, count).ToArray(), false),
                    new PooledMemoryStream(new ReadOnlyMemory<byte>(array, index, count))) { IsExpandable = false },
            13 =>
                new(
                    "sequence",
                    new MemoryStream((byte[])array.Clone(), false),
                    new PooledMemoryStream(SequenceOf(array, random))) { IsExpandable = false },
            14 =>
                OverArray(
                    "part that says whether it is writable",
                    new MemoryStream((byte[])array.Clone(), index, count, writable),
                    new PooledMemoryStream(array, index, count, writable)),
            15 =>
                new(
                    "rented with options",
                    new MemoryStream(),
                    PooledMemoryStream.Rent(new PooledMemoryStreamOptions { Pool = arrays, InitialSize = random.Next(5000) })),
            16 => new("reset", new MemoryStream(), Reset(new PooledMemoryStream(arrays), array)),
            _ => new("new", new MemoryStream(), new PooledMemoryStream()),
        };
    }

    private static StreamPair OverArray(string name, MemoryStream theirs, PooledMemoryStream ours) =>
        new(name, theirs, ours) { IsExpandable = false, IsOverArray = true };

    /// <summary>A stream that was used before.</summary>
    private static PooledMemoryStream Reset(PooledMemoryStream stream, byte[] content)
    {
        stream.Append(content);
        stream.Write(content);
        stream.Position = 1;
        Assert.True(stream.TryReset());
        return stream;
    }

    /// <summary>An array as a sequence of several parts, some of them empty.</summary>
    private static ReadOnlySequence<byte> SequenceOf(byte[] array, Random random)
    {
        var first = new SequencePart(array.AsMemory(0, 0), null);
        SequencePart last = first;
        for (int start = 0; start < array.Length;)
        {
            int length = Math.Min(random.Next(100), array.Length - start);
            last = new SequencePart(array.AsMemory(start, length), last);
            start += length;
        }

        return new ReadOnlySequence<byte>(first, 0, last, last.Memory.Length);
    }
}
