namespace Tidepool.Attacks;

/// <summary>
/// Reads a field that goes through so many leases that the slots behind them do not stay in the processor's cache: the read waits for the
/// slot in the midst of looking at the field, long enough for the field to change.
/// </summary>
internal sealed class TornMany : TornReads<long>
{
    private const int Leases = 1 << 14;
    private const int Small = 16;
    private const int Large = 200;

    public override string Name => "torn-many";

    public override string Promise =>
        "A lease that is replaced while it is read never shows memory beyond its buffer, however long the read takes.";

    protected override int WritersAmong(int threads) => Math.Max(1, threads / 8); // a field with many writers changes more slowly

    protected override BufferLease<long>[] Rent(BufferPool<long> pool, Random random)
    {
        var leases = new BufferLease<long>[Leases];
        for (int i = 0; i < Leases; i++)
        {
            leases[i] = pool.Rent(LengthOf(i));
            leases[i].Span.Fill(i);
        }

        random.Shuffle(leases);
        return leases;
    }

    protected override int LengthOf(long first) => first % 2 == 0 ? Small : Large;

    protected override void Replace(BufferLease<long>[] leases)
    {
        foreach (ref readonly BufferLease<long> lease in leases.AsSpan())
        {
            Field = lease;
        }
    }
}
