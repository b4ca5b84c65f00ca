namespace Tidepool.Attacks;

/// <summary>
/// Rentals in fields that some threads replace while others use and end them there. Rentals that stay in a local beside them are their
/// renter's alone, ending them never throws, and all have ended when the renters ended theirs.
/// </summary>
internal abstract class TornRentals<TLease> : Attack
{
    private readonly Place[] _places = [new(), new(), new(), new()];

    public override string Promise =>
        $"{Noun} that is replaced while it is used or ended takes nothing from other renters and leaves its pool whole.";

    protected abstract string Noun { get; }

    public override void Run(TimeSpan time, int threads, int seed)
    {
        Begin(threads);
        var deadline = new Deadline(time);
        Together(threads, seed, (thread, random) => Walk(thread, random, deadline));
        Finish();
        Ends("a rental of another pool", static () => BufferPool<byte>.Shared.Rent(100).Return());
    }

    /// <summary>Whether fields hold <c>default</c> in between as well.</summary>
    protected virtual bool EmptiesField => false;

    /// <summary>Makes the pool.</summary>
    protected abstract void Begin(int threads);

    /// <summary>Looks at the pool, of which nothing is rented, and ends it.</summary>
    protected abstract void Finish();

    /// <summary>A rental that others may end.</summary>
    protected abstract TLease Rent(Random random);

    /// <summary>Uses, or ends, what is in a field that others replace. What this throws is as documented.</summary>
    protected abstract void Use(ref TLease? field, int way);

    /// <summary>Ends a rental that others may have ended.</summary>
    protected abstract void End(TLease lease);

    /// <summary>Rents, uses and returns what no other thread has.</summary>
    protected abstract void Hold(int me, Random random);

    /// <summary>Notes a pool of which something is left after the end of all rentals.</summary>
    protected void AllEnded(long leased)
    {
        if (leased != 0)
        {
            Break($"{leased} rentals are out that had ended");
        }
    }

    private void Walk(int thread, Random random, Deadline deadline)
    {
        var mine = new Queue<TLease>();
        while (!deadline.IsOver)
        {
            ref TLease? field = ref _places[(thread / 2) % _places.Length].Field;
            if (thread % 2 == 0)
            {
                for (int i = 0; i < 20; i++)
                {
                    TLease lease = Rent(random);
                    field = lease;
                    if (EmptiesField && i % 4 == 3)
                    {
                        field = default;
                    }

                    mine.Enqueue(lease);
                    if (mine.Count > 2)
                    {
                        TryEnd(mine.Dequeue());
                    }
                }
            }
            else
            {
                for (int i = 0; i < 50; i++)
                {
                    try
                    {
                        Use(ref field, random.Next(20));
                    }
                    catch (Exception thrown) when (thrown is ObjectDisposedException or PoolMisuseException)
                    {
                        // The lease had ended, or was torn and refused.
                    }
                }
            }

            Hold(thread + 1, random);
            Count();
        }

        while (mine.TryDequeue(out TLease? left))
        {
            TryEnd(left);
        }
    }

    private void TryEnd(TLease lease)
    {
        try
        {
            End(lease);
        }
        catch (PoolMisuseException)
        {
            // Two threads ended it at once.
        }
    }

    private sealed class Place
    {
        public TLease? Field;
    }
}

/// <summary>Something to rent that knows its renter.</summary>
internal sealed class Marked(int key = 0)
{
    private int _renter;
    private int _ended;

    public int Key => key;

    /// <summary>Whether the caller is the only renter for a while.</summary>
    public bool IsMineAlone(int me)
    {
        bool alone = Interlocked.CompareExchange(ref _renter, me, 0) == 0;
        Thread.SpinWait(20);
        return alone && Volatile.Read(ref _ended) == 0 && Interlocked.CompareExchange(ref _renter, 0, me) == me;
    }

    /// <summary>Takes it for good.</summary>
    public bool TryKeep() => Interlocked.CompareExchange(ref _renter, -1, 0) == 0;

    /// <summary>Notes that its policy destroyed it.</summary>
    public ValueTask EndAsync()
    {
        Volatile.Write(ref _ended, 1);
        return ValueTask.CompletedTask;
    }

    public bool HasEnded => Volatile.Read(ref _ended) != 0;
}
