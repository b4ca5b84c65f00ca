using System.Text;

namespace Tidepool.Attacks;

/// <summary>Ends leases of streams again and again, and closes the writers over their streams, while those serve others.</summary>
internal sealed class LateStreamLease : Attack
{
    private const int Late = 64;

    public override string Name => "late-stream-lease";

    public override string Promise =>
        "A lease of a stream that is returned again, and a writer that closes its stream, touch no other renter's stream.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        var deadline = new Deadline(time);
        Together(threads, seed, (_, random) => Walk(random, deadline));
    }

    private void Walk(Random random, Deadline deadline)
    {
        var leases = new StreamLease[Late];
        var writers = new StreamWriter?[Late];
        byte[] content = new byte[300];
        while (!deadline.IsOver)
        {
            StreamLease mine = PooledMemoryStream.RentLease();
            if (mine.Stream.Length != 0 || mine.Stream.Position != 0)
            {
                Break("a new stream is not empty");
            }

            random.NextBytes(content);
            mine.Stream.Write(content);
            for (int i = random.Next(4); i > 0; i--)
            {
                leases[random.Next(Late)].Dispose();
                writers[random.Next(Late)]?.Dispose(); // it has written all it had
            }

            if (!mine.IsActive || mine.Stream.Length != content.Length || !mine.Stream.ToArray().AsSpan().SequenceEqual(content))
            {
                Break("a stream lost its content");
            }

            int place = random.Next(Late);
            writers[place] = new StreamWriter(mine.Stream, Encoding.ASCII) { AutoFlush = true };
            writers[place]!.Write("all");
            leases[place] = mine;
            mine.Return();
            Count();
        }
    }
}
