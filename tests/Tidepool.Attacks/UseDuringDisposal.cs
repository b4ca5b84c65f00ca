namespace Tidepool.Attacks;

/// <summary>One thread does all that a stream can do to a stream that another disposes of.</summary>
internal sealed class UseDuringDisposal(bool leases) : DuringDisposal(size: 3000)
{
    public override string Name => $"use-during-disposal-{(leases ? "lease" : "new")}";

    public override string Promise => "Whatever races a stream's disposal leaves the next stream empty and its calls without exceptions.";

    protected override (PooledMemoryStream Stream, StreamLease Lease) Make()
    {
        StreamLease lease = leases ? PooledMemoryStream.RentLease() : default;
        return (leases ? lease.Stream : new PooledMemoryStream(), lease);
    }

    protected override void Use(PooledMemoryStream stream, byte[] content, Random random)
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
}
