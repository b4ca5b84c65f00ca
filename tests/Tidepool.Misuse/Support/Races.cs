namespace Tidepool.Misuse.Support;

/// <summary>
/// Two threads that return one lease at the same moment, again and again: they go through a batch in lockstep, spinning, so that both
/// returns of a lease meet within nanoseconds.
/// </summary>
internal sealed class Race(BufferPool<int> pool)
{
    private const int Batch = 1000;

    private readonly int[] _threwInBatch = new int[Batch];
    private readonly Position[] _positions = new Position[2];

    /// <summary>Leases of which no, one or both of the returns threw.</summary>
    public int[] Threw { get; } = new int[3];

    /// <summary>Rentals beyond those that were raced for.</summary>
    public int Checked { get; private set; }

    /// <summary>Neither thread has rented: a third one rents and is parked.</summary>
    public void BetweenTwoOthers(int rounds)
    {
        using ParkedThread renter = new();
        using ParkedThread other = new();
        for (int done = 0; done < rounds; done += Batch)
        {
            BufferLease<int>[] leases = renter.Run(Rent);
            Meet(leases, other, done);
            renter.Run(() => Check(leases));
        }
    }

    /// <summary>One of the two is the renting thread.</summary>
    public void WithTheRenter(int rounds)
    {
        using ParkedThread other = new();
        for (int done = 0; done < rounds; done += Batch)
        {
            BufferLease<int>[] leases = Rent();
            Meet(leases, other, done);
            Check(leases);
        }
    }

    private BufferLease<int>[] Rent()
    {
        BufferLease<int>[] leases = new BufferLease<int>[Batch];
        for (int i = 0; i < leases.Length; i++)
        {
            leases[i] = pool.Rent(100);
        }

        return leases;
    }

    private void Meet(BufferLease<int>[] leases, ParkedThread other, int seed)
    {
        Array.Clear(_threwInBatch);
        _positions[0].Value = _positions[1].Value = -1;
        Task there = Task.Run(() => other.Run(() => ReturnAll(leases, 1, seed)));
        ReturnAll(leases, 0, seed + 1);
        Assert.True(there.Wait(Eventually.Limit), "The other thread did not return its leases.");
        foreach (int threw in _threwInBatch)
        {
            Threw[threw]++;
        }
    }

    private void ReturnAll(BufferLease<int>[] leases, int me, int seed)
    {
        Random jitter = new(seed);
        for (int i = 0; i < leases.Length; i++)
        {
            int delay = jitter.Next(100);
            Volatile.Write(ref _positions[me].Value, i);
            int spins = 0;
            while (Volatile.Read(ref _positions[1 - me].Value) < i)
            {
                if (++spins % 20_000 == 0)
                {
                    Thread.Yield(); // one core, or a busy one
                }
            }

            while (delay > 0)
            {
                delay -= 1 + (Volatile.Read(ref _positions[me].Value) & 0); // a nanosecond or so
            }

            try
            {
                leases[i].Return();
            }
            catch (PoolMisuseException)
            {
                Interlocked.Increment(ref _threwInBatch[i]);
            }
        }
    }

    /// <summary>As many rentals as were raced for, on the thread that rented those: a buffer that was kept twice comes out twice.</summary>
    private void Check(BufferLease<int>[] raced)
    {
        foreach (BufferLease<int> lease in raced)
        {
            Assert.False(lease.IsActive);
        }

        BufferLease<int>[] leases = Rent();
        HashSet<int[]> arrays = [];
        foreach (BufferLease<int> lease in leases)
        {
            Assert.True(arrays.Add(lease.Segment.Array!), "Two renters of one buffer.");
        }

        Array.ForEach(leases, l => l.Return());
        Checked += leases.Length;
    }

    /// <summary>On a cache line of its own.</summary>
    [System.Runtime.InteropServices.StructLayout(System.Runtime.InteropServices.LayoutKind.Explicit, Size = 128)]
    private struct Position
    {
        [System.Runtime.InteropServices.FieldOffset(64)]
        public int Value;
    }
}
