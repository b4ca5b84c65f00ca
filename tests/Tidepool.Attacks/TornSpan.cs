namespace Tidepool.Attacks;

/// <summary>Reads a field that changes between two leases of very different lengths.</summary>
internal sealed class TornSpan : TornReads<byte>
{
    private const int Small = 16;
    private const int Large = 1 << 20;

    public override string Name => "torn-span";

    public override string Promise => "A lease that is replaced while it is read never shows memory beyond its buffer.";

    protected override int WritersAmong(int threads) => Math.Max(1, threads / 2);

    protected override BufferLease<byte>[] Rent(BufferPool<byte> pool, Random random)
    {
        BufferLease<byte> small = pool.Rent(Small), large = pool.Rent(Large);
        small.Span.Fill(1);
        large.Span.Fill(2);
        return [small, large];
    }

    protected override int LengthOf(byte first) => first == 1 ? Small : Large;

    protected override void Replace(BufferLease<byte>[] leases)
    {
        BufferLease<byte> small = leases[0], large = leases[1];
        for (int i = 0; i < 1000; i++)
        {
            Field = small;
            Field = large;
        }
    }
}
