namespace Tidepool.Attacks;

/// <summary>
/// Several threads write to one buffer writer, which is misuse: wrong content and exceptions are theirs, memory of others is not.
/// </summary>
internal sealed class TornWriter : Attack
{
    public override string Name => "torn-writer";

    public override string Promise => "A buffer writer that two threads use at once damages nothing but its own content.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Name = Name });
        var deadline = new Deadline(time);
        while (!deadline.IsOver)
        {
            using var writer = new PooledBufferWriter<byte>(pool);
            Together([.. Enumerable.Range(0, threads).Select<int, Action>(_ => () => Write(writer)), () => Rent(pool)]);
            Count();
        }

        Validate(pool.Validate);
    }

    private static void Write(PooledBufferWriter<byte> writer)
    {
        for (int i = 0; i < 2000; i++)
        {
            try
            {
                int size = 1 << (i % 12);
                writer.GetSpan(size)[..size].Fill(9);
                writer.Advance(size);
                if (i % 100 == 0)
                {
                    writer.Reset();
                }
            }
            catch (Exception thrown) when (thrown is InvalidOperationException or ArgumentException)
            {
                // The writer's own state is its users' affair.
            }
        }
    }

    /// <summary>Buffers of an innocent renter, filled and looked at again.</summary>
    private void Rent(BufferPool<byte> pool)
    {
        for (int i = 0; i < 2000; i++)
        {
            using BufferLease<byte> lease = pool.Rent(1 << (i % 12));
            lease.Span.Fill(7);
            Thread.SpinWait(20);
            if (lease.Span.IndexOfAnyExcept((byte)7) >= 0)
            {
                Break("another renter's buffer was written to");
            }
        }
    }
}
