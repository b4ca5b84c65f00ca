using System.Buffers;
using System.Runtime.CompilerServices;
using System.Text;

namespace Tidepool.Labs;

/// <summary>A habit, without a pool and with one.</summary>
/// <param name="Name">What it is called.</param>
/// <param name="OperationsPerSecond">How many operations a second the paced program does.</param>
/// <param name="Operations">How many operations a verified run has.</param>
/// <param name="Before">So many operations without a pool.</param>
/// <param name="After">The same with one.</param>
internal sealed record PlantedPair(string Name, int OperationsPerSecond, int Operations, Action<int> Before, Action<int> After)
{
    /// <summary>Whether a pool saves no processor time, so that none must be advised.</summary>
    public bool IsTrap { get; init; }
}

/// <summary>The habits whose saving is estimated and then verified.</summary>
internal static class PlantedPairs
{
    private const int ShortLength = 4000;
    private const int LargeLength = 120_000;
    private const int References = 1000;
    private const int Numbers = 1500;
    private const int PartLength = 2000;
    private const int Parts = 10;
    private const int ManyParts = 100;
    private const int TinyObjects = 100;

    private static readonly byte[] Part = new byte[PartLength];
    private static readonly ObjectPool<ParsedLine> Lines = ObjectPool<ParsedLine>.Create(static () => new ParsedLine());
    private static readonly ObjectPool<TinyPoint> Points = ObjectPool<TinyPoint>.Create(static () => new TinyPoint());
    private static readonly List<byte[]> KeptArrays = [];
    private static readonly List<BufferLease<byte>> KeptLeases = [];
    private static uint s_mixed;

    /// <summary>All of them.</summary>
    public static IReadOnlyList<PlantedPair> All { get; } =
    [
        new("byte arrays", 200_000, 1_000_000, Arrays, static count => Rented(count, static _ => ShortLength)),
        new("streams", 15_000, 120_000, static count => Streams(count, Parts), static count => PooledStreams(count, Parts)),
        new("mixed lengths", 150_000, 700_000, MixedArrays, static count => Rented(count, static _ => MixedLength())),
        new("large arrays", 1200, 20_000, LargeArrays, static count => Rented(count, static _ => LargeLength)),
        new("arrays of references", 100_000, 400_000, ReferenceArrays, RentedReferences),
        new("buffer writers", 15_000, 120_000, Writers, PooledWriters),
        new("string builders", 30_000, 200_000, Builders, PooledBuilders),
        new("objects with a buffer", 100_000, 500_000, ParsedLines, PooledLines),
        new("two places", 100_000, 500_000, TwoPlaces, RentedTwoPlaces),
        new("large streams", 600, 10_000, static count => Streams(count, ManyParts), static count => PooledStreams(count, ManyParts)),
        new("tiny objects", 40_000, 400_000, Tiny, PooledTiny) { IsTrap = true },
        new("kept arrays", 5000, 40_000, Kept, KeptRented) { IsTrap = true },
    ];

    private static void Arrays(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Use(NewBytes(ShortLength), i);
        }
    }

    private static void MixedArrays(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Use(NewBytes(MixedLength()), i);
        }
    }

    private static void LargeArrays(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Use(NewBytes(LargeLength), i);
        }
    }

    /// <summary>The next length, however few operations a call has.</summary>
    private static int MixedLength() => 2000 + (int)(s_mixed++ * 977 % 8000);

    private static void Rented(int count, Func<int, int> length)
    {
        for (int i = 0; i < count; i++)
        {
            using BufferLease<byte> lease = BufferPool<byte>.Shared.Rent(length(i));
            Use(lease.Span, i);
        }
    }

    private static void TwoPlaces(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Use(NewBytes(ShortLength), i);
            NewNumbers().AsSpan().Fill(i);
        }
    }

    private static void RentedTwoPlaces(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using BufferLease<byte> bytes = BufferPool<byte>.Shared.Rent(ShortLength);
            using BufferLease<int> numbers = BufferPool<int>.Shared.Rent(Numbers);
            Use(bytes.Span, i);
            numbers.Span.Fill(i);
        }
    }

    private static void ReferenceArrays(int count)
    {
        for (int i = 0; i < count; i++)
        {
            object[] array = NewReferences();
            array[i % References] = array;
            GC.KeepAlive(array);
        }
    }

    private static void RentedReferences(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using BufferLease<object> lease = BufferPool<object>.Shared.Rent(References, clear: true);
            lease.Span[i % References] = Part;
        }
    }

    private static void Streams(int count, int parts)
    {
        for (int i = 0; i < count; i++)
        {
            using var stream = new MemoryStream();
            Write(stream, parts);
        }
    }

    private static void PooledStreams(int count, int parts)
    {
        for (int i = 0; i < count; i++)
        {
            using var stream = new PooledMemoryStream();
            Write(stream, parts);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Write(MemoryStream stream, int parts)
    {
        for (int part = 0; part < parts; part++)
        {
            stream.Write(Part);
        }
    }

    private static void Writers(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Append(new ArrayBufferWriter<byte>());
        }
    }

    private static void PooledWriters(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using var writer = new PooledBufferWriter<byte>();
            Append(writer);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Append(IBufferWriter<byte> writer)
    {
        for (int part = 0; part < Parts; part++)
        {
            writer.Write(Part);
        }
    }

    private static void Builders(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Append(new StringBuilder());
        }
    }

    private static void PooledBuilders(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using var text = PooledStringBuilder.Rent();
            Append(text.Builder);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Append(StringBuilder builder)
    {
        for (int part = 0; part < Parts; part++)
        {
            builder.Append('x', 1000);
        }
    }

    private static void ParsedLines(int count)
    {
        for (int i = 0; i < count; i++)
        {
            NewLine().Parse(i);
        }
    }

    private static void PooledLines(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using ObjectLease<ParsedLine> lease = Lines.Rent();
            lease.Value.Parse(i);
        }
    }

    private static void Tiny(int count)
    {
        for (int i = 0; i < count * TinyObjects; i++)
        {
            NewPoint().Set(i);
        }
    }

    private static void PooledTiny(int count)
    {
        for (int i = 0; i < count * TinyObjects; i++)
        {
            using ObjectLease<TinyPoint> lease = Points.Rent();
            lease.Value.Set(i);
        }
    }

    private static void Kept(int count)
    {
        for (int i = 0; i < count; i++)
        {
            byte[] array = NewBytes(ShortLength);
            Use(array, i);
            KeptArrays.Add(array);
        }
    }

    private static void KeptRented(int count)
    {
        for (int i = 0; i < count; i++)
        {
            BufferLease<byte> lease = BufferPool<byte>.Shared.Rent(ShortLength);
            Use(lease.Span, i);
            KeptLeases.Add(lease);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte[] NewBytes(int length) => new byte[length];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int[] NewNumbers() => new int[Numbers];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static object[] NewReferences() => new object[References];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ParsedLine NewLine() => new();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static TinyPoint NewPoint() => new();

    /// <summary>Writes all of it.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Use(Span<byte> content, int value) => content.Fill((byte)value);

    private sealed class ParsedLine
    {
        private readonly char[] _text = new char[4000];

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Parse(int value) => _text.AsSpan().Fill((char)value);
    }

    private sealed class TinyPoint
    {
        private long _x;
        private long _y;
        private long _sum;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Set(int value)
        {
            _x = value;
            _y = -value;
            _sum = _x + _y;
        }

        public override string ToString() => $"{_sum}";
    }
}
