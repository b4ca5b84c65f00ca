using System.Runtime.CompilerServices;

namespace Tidepool.Labs;

/// <summary>The loops of one kind of stream.</summary>
internal static class StreamLife<T>
    where T : struct, IStreamSubject<T>
{
    /// <summary>Bytes that are written one by one before the stream is rewound.</summary>
    public const int BytesBeforeRewind = 1 << 16;

    private const int ReadBlock = 1 << 20;

    /// <summary>Lives of a stream: create, write in steps, rewind, read back, dispose.</summary>
    public static void Run(int operations, long size, int step)
    {
        byte[] source = StreamData.OfLength((int)Math.Min(step, size));
        byte[] target = StreamData.Target((int)Math.Min(size, ReadBlock));
        for (int i = 0; i < operations; i++)
        {
            T stream = T.Open();
            for (long written = 0; written < size; written += step)
            {
                stream.Write(source, 0, (int)Math.Min(step, size - written));
            }

            ReadBack(stream, size, target);
            stream.Close();
        }
    }

    /// <summary>Lives of a stream whose length is known: create with room for it, write at once, rewind, read back, dispose.</summary>
    public static void RunKnown(int operations, int size)
    {
        byte[] source = StreamData.OfLength(size);
        byte[] target = StreamData.Target(size);
        for (int i = 0; i < operations; i++)
        {
            T stream = T.Open(size);
            stream.Write(source, 0, size);
            ReadBack(stream, size, target);
            stream.Close();
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void ReadBack(T stream, long size, byte[] target)
    {
        stream.Rewind();
        long left = size;
        while (left > 0)
        {
            left -= stream.Read(target, 0, (int)Math.Min(left, target.Length));
        }
    }

    /// <summary>Writes bytes one by one on the exact type.</summary>
    public static void RunBytes(int operations)
    {
        T stream = T.Open();
        for (int done = 0; done < operations; done += BytesBeforeRewind)
        {
            stream.Rewind();
            for (int i = 0; i < BytesBeforeRewind; i++)
            {
                stream.WriteByte((byte)i);
            }
        }

        stream.Close();
    }

    /// <summary>Writes bytes one by one through the base class.</summary>
    public static void RunBytesThroughBase(int operations)
    {
        T stream = T.Open();
        for (int done = 0; done < operations; done += BytesBeforeRewind)
        {
            stream.Rewind();
            WriteBytes(stream.Base);
        }

        stream.Close();
    }

    /// <summary>A loop that copies content of a size, written once, to a target that ignores it.</summary>
    public static Action<int> Copies(int size)
    {
        T stream = T.Open();
        stream.Write(StreamData.OfLength(size), 0, size);
        Stream source = stream.Base;
        return operations =>
        {
            for (int i = 0; i < operations; i++)
            {
                source.Position = 0;
                source.CopyTo(StreamData.Nowhere);
            }
        };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void WriteBytes(Stream stream)
    {
        for (int i = 0; i < BytesBeforeRewind; i++)
        {
            stream.WriteByte((byte)i);
        }
    }
}

/// <summary>What is written and where it is read to; the same for all kinds, one target for each thread.</summary>
internal static class StreamData
{
    private static readonly Dictionary<int, byte[]> Sources = [];

    [ThreadStatic]
    private static byte[]? t_target;

    /// <summary>A target that looks at every block and keeps none.</summary>
    public static Stream Nowhere { get; } = new CountingTarget();

    /// <summary>Bytes of a length, made once.</summary>
    public static byte[] OfLength(int length)
    {
        lock (Sources)
        {
            if (!Sources.TryGetValue(length, out byte[]? source))
            {
                source = new byte[length];
                new Random(length).NextBytes(source);
                Sources.Add(length, source);
            }

            return source;
        }
    }

    /// <summary>A target of at least a length for this thread.</summary>
    public static byte[] Target(int length) => t_target is { } made && made.Length >= length ? made : t_target = new byte[length];

    private sealed class CountingTarget : Stream
    {
        private long _sum;

        public override bool CanRead => false;

        public override bool CanSeek => false;

        public override bool CanWrite => true;

        public override long Length => _sum;

        public override long Position
        {
            get => _sum;
            set => throw new NotSupportedException();
        }

        public override void Flush()
        {
        }

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => _sum += count + buffer[offset];

        public override void Write(ReadOnlySpan<byte> buffer) => _sum += buffer.Length + buffer[0];
    }
}
