namespace Tidepool.Attacks;

/// <summary>
/// One thread writes to a stream that another disposes of. That is misuse, and the stream's own content is lost; the next streams of the
/// disposing thread are innocent.
/// </summary>
internal sealed class WriteDuringDisposal(bool rents, int size) : Attack
{
    /// <summary>
    /// How many streams in a million may hold a racing writer's bytes: it has the memory in its hands and no pool can take it out of them.
    /// </summary>
    private const int ToleratedInAMillion = 50;

    /// <summary>So many at least, however short the attack: a stall at the wrong moment gives several at once.</summary>
    private const int FewestTolerated = 20;

    /// <summary>
    /// So many new streams may have a length, and one in a million: a writer that is held up between two instructions of a fast path until
    /// eight more streams were rented stores into one of them.
    /// </summary>
    private const int FewestNotEmpty = 2;

    private PooledMemoryStream? _shared;
    private long _wrong;
    private long _notEmpty;

    public override string Name => $"write-during-disposal-{(rents ? "rent" : "new")}-{size}";

    public override string Promise => "A write that races a stream's disposal leaves the next stream empty and its calls without exceptions.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        var deadline = new Deadline(time);
        Together([.. Enumerable.Repeat<Action>(() => Write(deadline), Math.Max(1, threads - 1)), () => Dispose(deadline)]);
        if (_wrong > Math.Max(FewestTolerated, Rounds * ToleratedInAMillion / 1_000_000))
        {
            Break($"{_wrong} innocent streams had wrong content");
        }

        if (_notEmpty > Math.Max(FewestNotEmpty, Rounds / 1_000_000))
        {
            Break($"{_notEmpty} new streams were not empty");
        }
    }

    private PooledMemoryStream Make() => rents ? PooledMemoryStream.Rent() : new PooledMemoryStream();

    private void Write(Deadline deadline)
    {
        byte[] content = new byte[size];
        content.AsSpan().Fill(0xAA);
        while (!deadline.IsOver)
        {
            for (int i = 0; i < 100; i++)
            {
                try
                {
                    if (Volatile.Read(ref _shared) is { } stream)
                    {
                        stream.Position = 0;
                        stream.Write(content);
                    }
                }
#pragma warning disable CA1031 // The writer misuses a stream: what it gets for that is its own.
                catch (Exception)
#pragma warning restore CA1031
                {
                }
            }
        }
    }

    private void Dispose(Deadline deadline)
    {
        byte[] content = new byte[size];
        byte[] back = new byte[size];
        content.AsSpan().Fill(0x55);
        var random = new Random(size);
        while (!deadline.IsOver)
        {
            PooledMemoryStream stream = Make();
            Volatile.Write(ref _shared, stream);
            Thread.SpinWait(random.Next(300));
            try
            {
                stream.Dispose();
            }
#pragma warning disable CA1031 // This stream is the one that is misused.
            catch (Exception)
#pragma warning restore CA1031
            {
            }

            PooledMemoryStream mine = Make();
            if (mine.Length != 0 || mine.Position != 0)
            {
                _notEmpty++;
            }

            mine.Write(content);
            mine.Position = 0;
            int read = mine.Read(back);
            if (read != size || back.AsSpan().IndexOfAnyExcept((byte)0x55) >= 0)
            {
                _wrong++;
            }

            mine.Dispose();
            Count();
        }
    }
}
