namespace Tidepool.Attacks;

/// <summary>Leases of streams.</summary>
internal sealed class TornStreams : TornRentals<StreamLease>
{
    private static readonly byte[] s_theirs = [.. Enumerable.Repeat((byte)0xAA, 700)];

    public override string Name => "torn-streams";

    protected override string Noun => "A lease of a stream";

    protected override bool EmptiesField => true;

    protected override void Begin(int threads)
    {
    }

    protected override StreamLease Rent(Random random)
    {
        StreamLease lease = PooledMemoryStream.RentLease();
        if (lease.Stream.Length != 0 || lease.Stream.Position != 0)
        {
            Break("a new stream is not empty");
        }

        lease.Stream.Write(s_theirs);
        return lease;
    }

    protected override void Use(ref StreamLease field, int way)
    {
        switch (way)
        {
            case 0:
                field.Return();
                break;
            case < 8:
                field.Dispose();
                break;
            default:
                _ = field.Stream;
                break;
        }
    }

    protected override void End(StreamLease lease) => lease.Dispose();

    protected override void Hold(int me, Random random)
    {
        StreamLease lease = PooledMemoryStream.RentLease();
        Span<byte> content = stackalloc byte[random.Next(1, 2000)], back = stackalloc byte[2000];
        content.Fill((byte)me);
        if (lease.Stream.Length != 0 || lease.Stream.Position != 0)
        {
            Break("a new stream is not empty");
        }

        lease.Stream.Write(content);
        Thread.SpinWait(20);
        lease.Stream.Position = 0;
        if (!content.SequenceEqual(back[..lease.Stream.Read(back)]))
        {
            Break("a stream had another's content");
        }

        lease.Return();
    }

    protected override void Finish()
    {
    }
}
