namespace Tidepool.Misuse.Support;

/// <summary>Two threads that return one lease at the same moment, again and again.</summary>
internal sealed class Race(BufferPool<int> pool)
{
    /// <summary>Rounds in which no, one or both of the returns threw.</summary>
    public int[] Threw { get; } = new int[3];

    /// <summary>Neither thread has rented: this one rents, two others return.</summary>
    public void BetweenTwoOthers(int rounds)
    {
        Duel duel = new();
        Thread first = duel.Start(1);
        Thread second = duel.Start(2);
        for (int round = 0; round < rounds; round++)
        {
            BufferLease<int> lease = pool.Rent(100);
            duel.Fight(lease);
            duel.Await(2);
            Threw[duel.TakeThrown()]++;
            Check(round);
        }

        duel.End();
        first.Join();
        second.Join();
    }

    /// <summary>One of the two is the renting thread.</summary>
    public void WithTheRenter(int rounds)
    {
        Duel duel = new();
        Thread other = duel.Start(1);
        for (int round = 0; round < rounds; round++)
        {
            BufferLease<int> lease = pool.Rent(100);
            duel.Fight(lease);
            duel.Return(lease);
            duel.Await(2);
            Threw[duel.TakeThrown()]++;
            Check(round);
        }

        duel.End();
        other.Join();
    }

    /// <summary>Enough rentals to meet a buffer that was kept twice.</summary>
    private void Check(int round)
    {
        Span<int> marks = stackalloc int[4];
        BufferLease<int> a = pool.Rent(100);
        BufferLease<int> b = pool.Rent(100);
        BufferLease<int> c = pool.Rent(100);
        a.Span.Fill(round);
        b.Span.Fill(-round - 1);
        c.Span.Fill(int.MaxValue);
        Assert.True(a.Span[0] == round && b.Span[0] == -round - 1, $"Two renters of one buffer in round {round}.");
        c.Return();
        b.Return();
        a.Return();
    }

    /// <summary>Spins instead of waiting, so that both returns meet within nanoseconds.</summary>
    private sealed class Duel
    {
        private BufferLease<int> _lease;
        private int _round;
        private int _done;
        private int _thrown;
        private volatile bool _end;

        public Thread Start(int index)
        {
            Thread thread = new(() =>
            {
                int seen = 0;
                SpinWait spin = default;
                while (!_end)
                {
                    int round = Volatile.Read(ref _round);
                    if (round == seen)
                    {
                        spin.SpinOnce(sleep1Threshold: -1);
                        continue;
                    }

                    seen = round;
                    Return(_lease);
                }
            })
            { IsBackground = true, Name = $"duel {index}" };
            thread.Start();
            return thread;
        }

        public void Fight(BufferLease<int> lease)
        {
            _done = 0;
            _lease = lease;
            Interlocked.Increment(ref _round);
        }

        public void Return(BufferLease<int> lease)
        {
            try
            {
                lease.Return();
            }
            catch (PoolMisuseException)
            {
                Interlocked.Increment(ref _thrown);
            }

            Interlocked.Increment(ref _done);
        }

        public void Await(int count)
        {
            long deadline = Environment.TickCount64 + 60_000;
            SpinWait spin = default;
            while (Volatile.Read(ref _done) < count)
            {
                Assert.True(Environment.TickCount64 < deadline, "The other thread did not return its lease.");
                spin.SpinOnce(sleep1Threshold: -1);
            }
        }

        public int TakeThrown() => Interlocked.Exchange(ref _thrown, 0);

        public void End() => _end = true;
    }
}
