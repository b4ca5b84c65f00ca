namespace Tidepool.Attacks;

/// <summary>
/// One thread disposes of streams that the others are using. That is misuse, and such a stream's own content is lost; the next streams of
/// the disposing thread are innocent.
/// </summary>
internal abstract class DuringDisposal(int size) : Attack
{
    /// <summary>
    /// How many streams in a million may hold a racing user's bytes: it has the memory in its hands and no pool can take it out of them.
    /// </summary>
    private const int ToleratedInAMillion = 50;

    /// <summary>So many at least, however short the attack: a stall at the wrong moment gives several at once.</summary>
    private const int FewestTolerated = 20;

    /// <summary>
    /// So many new streams may have a length, and one in a million: a user that is held up between two instructions of a fast path until
    /// eight more streams were rented stores into one of them.
    /// </summary>
    private const int FewestNotEmpty = 2;

    private const byte Mine = 0x55;
    private const byte Theirs = 0xAA;

    private PooledMemoryStream? _shared;
    private long _wrong;
    private long _notEmpty;

    /// <summary>The bytes that are written to each stream.</summary>
    protected int Size => size;

    public sealed override void Run(TimeSpan time, int threads, int seed)
    {
        var deadline = new Deadline(time);
        Together(Math.Max(2, threads), seed, (thread, random) =>
        {
            if (thread == 0)
            {
                Dispose(random, deadline);
            }
            else
            {
                Use(random, deadline);
            }
        });
        if (_wrong > Math.Max(FewestTolerated, Rounds * ToleratedInAMillion / 1_000_000))
        {
            Break($"{_wrong} innocent streams had wrong content");
        }

        if (_notEmpty > Math.Max(FewestNotEmpty, Rounds / 1_000_000))
        {
            Break($"{_notEmpty} new streams were not empty");
        }
    }

    /// <summary>Makes a stream, with the lease that ends it where there is one.</summary>
    protected abstract (PooledMemoryStream Stream, StreamLease Lease) Make();

    /// <summary>Uses a stream that may be disposed at any moment.</summary>
    protected abstract void Use(PooledMemoryStream stream, byte[] content, Random random);

    private void Use(Random random, Deadline deadline)
    {
        byte[] content = new byte[size];
        content.AsSpan().Fill(Theirs);
        while (!deadline.IsOver)
        {
            for (int i = 0; i < 100; i++)
            {
                try
                {
                    if (Volatile.Read(ref _shared) is { } stream)
                    {
                        Use(stream, content, random);
                    }
                }
#pragma warning disable CA1031 // This thread misuses a stream: what it gets for that is its own.
                catch (Exception)
#pragma warning restore CA1031
                {
                }
            }
        }
    }

    private void Dispose(Random random, Deadline deadline)
    {
        byte[] content = new byte[size], back = new byte[size];
        content.AsSpan().Fill(Mine);
        while (!deadline.IsOver)
        {
            DisposeInUse(random);
            (PooledMemoryStream mine, StreamLease lease) = MakeEmpty();
            mine.Write(content);
            mine.Position = 0;
            if (mine.Read(back) != size || back.AsSpan().ContainsAnyExcept(Mine))
            {
                _wrong++;
            }

            mine.Dispose();
            lease.Dispose();
            Count();
        }
    }

    private void DisposeInUse(Random random)
    {
        (PooledMemoryStream stream, StreamLease lease) = MakeEmpty();
        Volatile.Write(ref _shared, stream);
        Thread.SpinWait(random.Next(300));
        if (lease.IsActive)
        {
            Volatile.Write(ref _shared, null); // the object of a lease that has ended serves other leases later
        }

        try
        {
            stream.Dispose();
            lease.Dispose();
        }
#pragma warning disable CA1031 // This stream is the one that is misused.
        catch (Exception)
#pragma warning restore CA1031
        {
        }
    }

    private (PooledMemoryStream Stream, StreamLease Lease) MakeEmpty()
    {
        (PooledMemoryStream stream, StreamLease lease) = Make();
        if (stream.Length != 0 || stream.Position != 0)
        {
            _notEmpty++;
        }

        return (stream, lease);
    }
}
