namespace Tidepool.Attacks;

/// <summary>
/// Disposes a lease in a field that another thread replaces all the time. The elements are references, which are cleared on return: a wrong
/// length clears what belongs to others, or throws where nothing may.
/// </summary>
internal sealed class TornDisposal : Attack
{
    private readonly Gate[] _fields = [new(), new(), new(), new()];

    public override string Name => "torn-disposal";

    public override string Promise =>
        "A lease that is replaced while it is disposed of ends no other thread's work and leaves its pool whole.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        BufferPool<string> pool = BufferPool<string>.Create(new() { Name = Name });
        var deadline = new Deadline(time);
        int pairs = Math.Max(1, threads / 2);
        Together(Enumerable.Range(0, pairs).SelectMany<int, Action>(pair =>
        [
            () => Replace(pool, _fields[pair % _fields.Length], new Random(seed + pair), deadline),
            () => Dispose(_fields[pair % _fields.Length], deadline),
        ]));
        Ends("a rental of another pool", static () => BufferPool<byte>.Shared.Rent(100).Return());
        Ends("the disposal of the pool", pool.Dispose);
    }

    private void Replace(BufferPool<string> pool, Gate gate, Random random, Deadline deadline)
    {
        while (!deadline.IsOver)
        {
            BufferLease<string> lease = pool.Rent(random.Next(2) == 0 ? 16 : 5000);
            if (lease.Span.IndexOfAnyExcept((string?)null!) >= 0)
            {
                Break("a rented buffer holds another renter's reference");
            }

            lease.Span.Fill(Name);
            gate.Field = lease;
            Count();
        }
    }

    private void Dispose(Gate gate, Deadline deadline)
    {
        while (!deadline.IsOver)
        {
            try
            {
                gate.Field.Dispose();
            }
            catch (PoolMisuseException)
            {
                // Two threads disposed of the lease at once.
            }
        }
    }

    private sealed class Gate
    {
        public BufferLease<string> Field;
    }
}
