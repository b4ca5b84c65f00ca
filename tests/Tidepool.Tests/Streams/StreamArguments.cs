using System.Globalization;

namespace Tidepool.Tests.Streams;

/// <summary>What one operation is called with, on both streams.</summary>
internal sealed class StreamArguments
{
    private static readonly byte[] Data = NewData();

    public required byte[]? Buffer { get; init; }

    public required int Offset { get; init; }

    public required int Count { get; init; }

    public required long Place { get; init; }

    public required SeekOrigin Origin { get; init; }

    public required byte Value { get; init; }

    public required bool Cancelled { get; init; }

    public required int Choice { get; init; }

    public CancellationToken Token => new(Cancelled);

    /// <summary>A part of the buffer that is always valid.</summary>
    public ArraySegment<byte> Part => Buffer is null || Offset < 0 || Count < 0 || Offset > Buffer.Length || Count > Buffer.Length - Offset
        ? new ArraySegment<byte>(Data, 0, Math.Clamp(Count, 0, Data.Length))
        : new ArraySegment<byte>(Buffer, Offset, Count);

    public static StreamArguments Draw(Random random, StreamPair pair)
    {
        int length = random.Next(20) switch
        {
            0 => 0,
            < 12 => random.Next(20),
            < 18 => random.Next(700),
            18 => random.Next(9000),
            _ => random.Next(30) == 0 ? random.Next(150_000) : random.Next(3000),
        };
        long here = pair.Theirs.CanRead ? pair.Theirs.Length : 0;
        long place = random.Next(20) switch
        {
            0 => -1,
            1 => here + random.Next(300),
            2 => random.Next(3000),
            3 when pair.IsExpandable => random.Next(60_000),
            3 => int.MaxValue + random.NextInt64(-20, 3),
            4 => -random.Next(50),
            5 => pair.IsExpandable ? here : long.MaxValue,
            _ => random.NextInt64(here + 1),
        };
        bool bad = random.Next(60) == 0;
        return new StreamArguments
        {
            Buffer = bad && random.Next(3) == 0 ? null : Data,
            Offset = bad ? random.Next(-2, 5) : random.Next(10),
            Count = bad ? (random.Next(2) == 0 ? -1 : int.MaxValue) : length,
            Place = place,
            Origin = bad ? (SeekOrigin)random.Next(-1, 5) : (SeekOrigin)random.Next(3),
            Value = (byte)random.Next(256),
            Cancelled = random.Next(25) == 0,
            Choice = random.Next(1000),
        };
    }

    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"buffer {Buffer?.Length}, offset {Offset}, count {Count}, place {Place}, origin {Origin}, value {Value}, " +
        $"cancelled {Cancelled}, choice {Choice}");

    private static byte[] NewData()
    {
        byte[] data = new byte[160_000];
        new Random(1).NextBytes(data);
        return data;
    }
}
