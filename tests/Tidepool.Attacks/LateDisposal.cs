namespace Tidepool.Attacks;

/// <summary>
/// Disposes of rented streams a second time, any number of rentals later: the streams of others stay open and keep their content.
/// </summary>
internal sealed class LateDisposal : Attack
{
    public override string Name => "late-disposal";

    public override string Promise => "A second disposal of a rented stream touches no other stream, however late it comes.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        var deadline = new Deadline(time);
        Together(threads, seed, (_, random) => Walk(random, deadline));
    }

    private void Walk(Random random, Deadline deadline)
    {
        var late = new List<PooledMemoryStream>();
        byte[] content = new byte[200];
        while (!deadline.IsOver)
        {
            PooledMemoryStream mine = PooledMemoryStream.Rent();
            random.NextBytes(content);
            mine.Write(content);
            for (int i = random.Next(4); i > 0 && late.Count > 0; i--)
            {
                late[random.Next(late.Count)].Dispose();
            }

            try
            {
                if (!mine.ToArray().AsSpan().SequenceEqual(content))
                {
                    Break("a stream lost its content");
                }
            }
            catch (ObjectDisposedException)
            {
                Break("a stream was closed by a stranger");
            }

            mine.Dispose();
            if (late.Count < 100)
            {
                late.Add(mine);
            }
            else
            {
                late[random.Next(100)] = mine;
            }

            Count();
        }
    }
}
