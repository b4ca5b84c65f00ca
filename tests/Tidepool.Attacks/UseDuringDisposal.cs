namespace Tidepool.Attacks;

/// <summary>
/// One thread disposes of a stream on which others do all that a stream can do, as <see cref="WriteDuringDisposal"/> does with writes.
/// </summary>
internal sealed class UseDuringDisposal(bool leases) : Attack
{
    private const int Size = 3000;
    private const int ToleratedInAMillion = 50;
    private const int FewestTolerated = 20;
    private const int FewestNotEmpty = 2;

    private PooledMemoryStream? _shared;
    private long _wrong;
    private long _notEmpty;

    public override string Name => $"use-during-disposal-{(leases ? "lease" : "new")}";

    public override string Promise => "Whatever races a stream's disposal leaves the next stream empty and its calls without exceptions.";

    public override void Run(TimeSpan time, int threads, int seed)
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

    private void Use(Random random, Deadline deadline)
    {
        byte[] content = new byte[Size];
        content.AsSpan().Fill(0xAA);
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

    private static void Use(PooledMemoryStream stream, byte[] content, Random random)
    {
        switch (random.Next(16))
        {
            case 0:
                stream.WriteByte(0xAA);
                break;
            case 1:
                stream.SetLength(random.Next(100_000));
                break;
            case 2:
                stream.Capacity = random.Next(100_000);
                break;
            case 3:
                stream.GetSpan(600)[..600].Fill(0xAA);
                stream.Advance(600);
                break;
            case 4:
                _ = stream.GetBuffer().Length;
                break;
            case 5:
                _ = stream.ToArray();
                break;
            case 6:
                stream.Seek(random.Next(200_000), SeekOrigin.Begin);
                stream.WriteByte(0xAA);
                break;
            case 7:
                stream.Append(content);
                break;
            case 8:
                stream.Position = 0;
                stream.CopyTo(Stream.Null);
                break;
            case 9:
                stream.Detach().Dispose();
                break;
            case 10:
                stream.TryReset();
                break;
            case 11:
                stream.Reserve(random.Next(100_000));
                break;
            case 12:
                _ = stream.GetReadOnlySequence().Length;
                break;
            case 13:
                _ = stream.ToUnsafeArraySegment().Count;
                break;
            case 14:
                stream.Position = random.Next(Size);
                break;
            default:
                stream.Write(content);
                break;
        }
    }

    private void Dispose(Random random, Deadline deadline)
    {
        byte[] content = new byte[Size], back = new byte[Size];
        content.AsSpan().Fill(0x55);
        while (!deadline.IsOver)
        {
            Misuse(random);
            using StreamLease lease = leases ? PooledMemoryStream.RentLease() : default;
            using PooledMemoryStream? made = leases ? null : new PooledMemoryStream();
            PooledMemoryStream mine = made ?? lease.Stream;
            if (mine.Length != 0 || mine.Position != 0)
            {
                _notEmpty++;
            }

            mine.Write(content);
            mine.Position = 0;
            if (mine.Read(back) != Size || back.AsSpan().ContainsAnyExcept((byte)0x55))
            {
                _wrong++;
            }

            Count();
        }
    }

    private void Misuse(Random random)
    {
        StreamLease lease = leases ? PooledMemoryStream.RentLease() : default;
        PooledMemoryStream stream = leases ? lease.Stream : new PooledMemoryStream();
        if (stream.Length != 0 || stream.Position != 0)
        {
            _notEmpty++;
        }

        Volatile.Write(ref _shared, stream);
        Thread.SpinWait(random.Next(300));
        if (leases)
        {
            Volatile.Write(ref _shared, null); // the object of a lease that has ended serves others by and by
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
}
