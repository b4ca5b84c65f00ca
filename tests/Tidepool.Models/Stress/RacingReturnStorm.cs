using Tidepool.Models.Pools;

namespace Tidepool.Models.Stress;

/// <summary>
/// Wrong use: leases lie where every thread sees them, and are returned by several threads at once and again long afterwards.
/// </summary>
internal sealed class RacingReturnStorm(int seed, BufferPoolOptions<int> options, CountingSource<int> source)
    : Storm(seed, options, source)
{
    private readonly Board[] _boards = Enumerable.Range(0, 8).Select(static _ => new Board()).ToArray();

    protected override void Live(int place, Random random, int steps)
    {
        for (int step = 0; step < steps && !IsOver; step++)
        {
            Board board = _boards[random.Next(_boards.Length)];
            if (random.Next(3) == 0)
            {
                (BufferLease<int> lease, int number) = Rent(NextLength(random));
                Release(lease, number); // from here on anybody may return it
                if (board.Swap(lease) is { } before)
                {
                    before.Dispose();
                }
            }
            else if (board.Look() is { } lease)
            {
                End(lease, random.Next(10));
            }
        }
    }

    protected override void Drain() => Array.ForEach(_boards, static b => b.Look()?.Dispose());

    private static void End(BufferLease<int> lease, int how)
    {
        try
        {
            switch (how)
            {
                case 0:
                    lease.ToOwner().Dispose();
                    break;
                case < 5:
                    lease.Return();
                    break;
                default:
                    lease.Dispose();
                    break;
            }
        }
        catch (InvalidOperationException)
        {
            // Another thread was first. (ObjectDisposedException and PoolMisuseException are of this type.)
        }
    }

    /// <summary>A lease that anybody can see. The lock keeps copies whole; what is done with them races.</summary>
    private sealed class Board
    {
        private readonly Lock _gate = new();
        private BufferLease<int>? _lease;

        internal BufferLease<int>? Look()
        {
            lock (_gate)
            {
                return _lease;
            }
        }

        internal BufferLease<int>? Swap(BufferLease<int> lease)
        {
            lock (_gate)
            {
                BufferLease<int>? before = _lease;
                _lease = lease;
                return before;
            }
        }
    }
}
