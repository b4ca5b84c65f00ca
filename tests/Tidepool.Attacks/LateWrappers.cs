using System.IO.Compression;
using System.Text;

namespace Tidepool.Attacks;

/// <summary>
/// Wraps rented streams in writers, readers and compressors, which close them, and closes the wrapper or the stream again, any number of
/// rentals later and on any thread. Some wrappers still have something to write when they are closed.
/// </summary>
internal sealed class LateWrappers : Attack
{
    private readonly IDisposable?[] _late = new IDisposable?[256];

    public override string Name => "late-wrappers";

    public override string Promise =>
        "What still wraps a rented stream that has ended touches no other stream when it is closed, however late.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        var deadline = new Deadline(time);
        Together(threads, seed, (_, random) => Walk(random, deadline));
    }

    private void Walk(Random random, Deadline deadline)
    {
        byte[] content = new byte[300];
        while (!deadline.IsOver)
        {
            PooledMemoryStream mine = PooledMemoryStream.Rent();
            random.NextBytes(content);
            mine.Write(content);
            for (int i = random.Next(4); i > 0; i--)
            {
                Close(Volatile.Read(ref _late[random.Next(_late.Length)]));
            }

            if (mine.Length != content.Length || !mine.ToArray().AsSpan().SequenceEqual(content))
            {
                Break("a stream lost its content");
            }

            IDisposable wrapper = Wrap(mine, random.Next(6));
            mine.Dispose();
            if (random.Next(2) == 0)
            {
                Close(wrapper);
            }

            Volatile.Write(ref _late[random.Next(_late.Length)], random.Next(4) == 0 ? mine : wrapper);
            Count();
        }
    }

    private static IDisposable Wrap(PooledMemoryStream stream, int way)
    {
        switch (way)
        {
            case 0:
                var writer = new StreamWriter(stream, Encoding.UTF8);
                writer.Write("what waits in the writer"); // written when it is closed
                return writer;
            case 1:
                return new StreamReader(stream);
            case 2:
                var buffered = new BufferedStream(stream, 64);
                buffered.WriteByte(9);
                return buffered;
            case 3:
                var gzip = new GZipStream(stream, CompressionLevel.Fastest);
                gzip.WriteByte(9);
                return gzip;
            case 4:
                return new BinaryWriter(stream);
            default:
                return stream;
        }
    }

    private static void Close(IDisposable? late)
    {
        if (late is null)
        {
            return;
        }

        try
        {
            lock (late)
            {
                late.Dispose();
            }
        }
        catch (ObjectDisposedException)
        {
            // It had something to write, and its stream has ended.
        }
    }
}
