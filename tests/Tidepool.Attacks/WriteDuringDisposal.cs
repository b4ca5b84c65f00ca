namespace Tidepool.Attacks;

/// <summary>One thread writes to a stream that another disposes of.</summary>
internal sealed class WriteDuringDisposal(bool rents, int size) : DuringDisposal(size)
{
    public override string Name => $"write-during-disposal-{(rents ? "rent" : "new")}-{Size}";

    public override string Promise =>
        "A write that races a stream's disposal leaves the next stream empty and its calls without exceptions.";

    protected override (PooledMemoryStream Stream, StreamLease Lease) Make() =>
        (rents ? PooledMemoryStream.Rent() : new PooledMemoryStream(), default);

    protected override void Use(PooledMemoryStream stream, byte[] content, Random random)
    {
        stream.Position = 0;
        stream.Write(content);
    }
}
