using System.Text;
using Tidepool.Models.Scheduling;

namespace Tidepool.Models.Scenarios;

/// <summary>A pool of its own for one schedule, the rentals from it, and the invariants of both.</summary>
internal sealed class World
{
    private static readonly List<object> Abandoned = [];

    private readonly Dictionary<Slot, Rental> _current = [];
    private readonly Magazine?[] _homes;
    private readonly ClosedMagazines _closed = new();
    private readonly StringBuilder _log = new();
    private int _begun;
    private int _ended;

    /// <param name="random">Where every choice comes from.</param>
    /// <param name="threads">The number of threads.</param>
    /// <param name="length">The length of the buffers; 0 for a random one.</param>
    internal World(Random random, int threads, int length = 0)
    {
        // Magazines of one to four items, so that a few rentals fill and empty them; now and then full ones, or a pool that may keep
        // nothing. Chunks come and go up to 64 KiB, single items above.
        Length = length > 0 ? length : random.Next(8) switch { 0 => 1024, < 5 => 64 << 10, < 7 => 128 << 10, _ => 256 << 10 };
        long budget = length == 0 && random.Next(6) == 0 ? 0 : long.MaxValue / 4;
        Pool = BufferPool<byte>.Create(new BufferPoolOptions<byte>
        {
            Name = "model", Source = Source, LeakSampling = 0, Budget = budget, Checks = PoolChecks.Default,
        });
        Bucket = Pool.Core.FindBucket(Length)!;
        _homes = new Magazine?[threads];
        _log.Append(System.Globalization.CultureInfo.InvariantCulture, $"length {Length}, budget {budget}:");
    }

    internal BufferPool<byte> Pool { get; }

    internal TrackingSource Source { get; } = new();

    internal Bucket Bucket { get; }

    internal int Length { get; }

    private int Out => Rentals.Count(static r => r.Begun == 0);

    /// <summary>Every rental so far.</summary>
    internal List<Rental> Rentals { get; } = [];

    /// <summary>Connects the points of the core. The trimmer must begin no epoch behind the scheduler's back.</summary>
    internal static void Attach(Action<string>? hook)
    {
        Trimmer.IsAutomatic = false;
        ThreadTier.ReturnsBeforeOutbox = 1;
        Schedule.Hook = hook;
    }

    internal Rental Rent(int thread, int length) => TryRent(thread, length) ?? throw new ScheduleException("nobody has disposed the pool");

    /// <summary>Rents unless the pool was disposed.</summary>
    internal Rental? TryRent(int thread, int length)
    {
        Begin(thread, "rent");
        BufferLease<byte> lease;
        try
        {
            lease = Pool.Rent(length);
        }
        catch (ObjectDisposedException) when (Pool.IsDisposed)
        {
            Note(thread, "was too late");
            return null;
        }

        _homes[thread] = ThreadTier.FindSlow(Bucket);
        return Hold(thread, lease);
    }

    /// <summary>Rents from a handle of the thread.</summary>
    internal Rental Rent(int thread, ThreadHandle<byte> handle)
    {
        Begin(thread, "rent from its handle");
        return Hold(thread, handle.Rent(Length));
    }

    /// <summary>Waits until another thread has made a rental.</summary>
    internal Rental Await(int index)
    {
        while (Rentals.Count <= index)
        {
            Schedule.Point("spin");
        }

        return Rentals[index];
    }

    /// <summary>Returns a rental, or tries to when it was returned before.</summary>
    /// <param name="thread">The thread.</param>
    /// <param name="rental">The rental.</param>
    /// <param name="handle">The handle of the thread that takes it back, or the default one: the rental's pool does.</param>
    internal void Return(int thread, Rental rental, ThreadHandle<byte> handle = default)
    {
        Begin(thread, $"return #{Rentals.IndexOf(rental)}");
        rental.Begun++;
        rental.IsReturnedAtHome |= thread == rental.Renter;
        if (rental.Owner is { } owner)
        {
            owner.Dispose();
            return;
        }

        try
        {
            handle.Return(rental.Lease);
            rental.Won++;
            Note(thread, "returned");
        }
        catch (PoolMisuseException)
        {
            Note(thread, "was late");
        }
    }

    /// <summary>Moves a rental to an owner, or tries to when it was returned before.</summary>
    internal void Move(int thread, Rental rental)
    {
        if (rental.Owner is not null)
        {
            return;
        }

        Begin(thread, $"move #{Rentals.IndexOf(rental)}");
        rental.Begun++;
        rental.IsReturnedAtHome |= thread == rental.Renter;
        try
        {
            System.Buffers.IMemoryOwner<byte> owner = rental.Lease.ToOwner();
            rental.IsMoved = true;
            rental.Won++;
            Rental moved = Begin(rental.Lease, new Rental(rental.Lease, rental.Renter) { Owner = owner });
            Note(thread, $"moved to #{Rentals.IndexOf(moved)}");
        }
        catch (ObjectDisposedException)
        {
            Note(thread, "was late");
        }
    }

    /// <summary>Does to the magazine of <paramref name="home"/> what trimming, reaping and full inboxes do.</summary>
    internal void Visit(int thread, int home, int what)
    {
        Schedule.Point("visit");
        if (_homes[home] is not { } magazine)
        {
            return;
        }

        var items = new List<object?>();
        switch (what)
        {
            case 0 when _closed.TryAdd(magazine):
                Note(thread, $"close T{home}");
                magazine.Close(items);
                Magazine.PutShared(Bucket, items);
                break;
            case 0:
                break;
            case 1:
                Note(thread, $"move the inbox of T{home}");
                magazine.TakeWaiting(items);
                Magazine.PutShared(Bucket, items);
                break;
            case 5:
                Note(thread, $"post the outbox of T{home}");
                PostOutbox(magazine);
                break;
            case 6:
                Note(thread, $"widen the inbox of T{home}");
                magazine.TryWidenInbox();
                break;
            default:
                Note(thread, $"trim T{home}");
                if (magazine.TryVisit())
                {
                    magazine.Trim(all: what == 2, isEpoch: thread != 1, items);
                    magazine.Resume();
                    Bucket.Pool.Evict(Bucket, items.ToArray());
                }

                break;
        }
    }

    private void PostOutbox(Magazine magazine)
    {
        if (!magazine.TryVisit())
        {
            return;
        }

        Items slots = default;
        int count = magazine.TakeOutgoing(Items.Span(ref slots));
        magazine.Resume();
        Magazine.PutShared(Bucket, Magazine.PostOrTake(Items.Span(ref slots)[..count]) ?? []);
    }

    /// <summary>Counts what is idle while others return it, and rent nothing: each buffer at most once.</summary>
    internal void Count(int thread)
    {
        Begin(thread, "count");
        PoolStatistics statistics = Pool.GetStatistics();
        Expect(statistics.Idle <= Source.Live, $"{statistics.Idle} buffers are counted as idle, {Source.Live} live");
        Expect(statistics.Leased >= 0, $"{statistics.Leased} are counted as out");
    }

    /// <summary>Counts what is idle while others rent and return: wrong by a chunk at most for each of their steps meanwhile.</summary>
    internal void CountAmid(int thread)
    {
        Begin(thread, "count");
        int ended = Volatile.Read(ref _ended);
        int live = Source.Live;
        PoolStatistics statistics = Pool.GetStatistics();
        Schedule.Point("counted");
        int overlapping = Volatile.Read(ref _begun) - ended;
        int most = Math.Max(live, Source.Live) + (overlapping * Items.Capacity);
        Expect(
            statistics.Idle >= 0 && statistics.Idle <= most,
            $"{statistics.Idle} buffers are counted as idle, at most {most} may be: {overlapping} steps overlap the count");
        Expect(
            Math.Abs(statistics.Leased - Out) <= (overlapping * Items.Capacity) + 1,
            $"{statistics.Leased} are counted as out, {Out} are, and {overlapping} steps overlap the count");
    }

    /// <summary>A rental or a return that a count may overlap.</summary>
    internal void Step(Action step)
    {
        Interlocked.Increment(ref _begun);
        step();
        Interlocked.Increment(ref _ended);
    }

    /// <summary>Empties the shared tier, or half of it.</summary>
    internal void TrimShared(int thread, bool all)
    {
        Begin(thread, "trim the shared tier");
        var chunks = new List<Chunk>();
        Bucket.Shared.Trim(all, chunks);
        chunks.ForEach(c => Bucket.Pool.Evict(Bucket, c.Content()));
    }

    /// <summary>Nothing lost, nothing twice, the counters add up.</summary>
    internal void Check()
    {
        _closed.Refund(Bucket.Pool);
        Expect(
            !Pool.IsDisposed || Pool.Core.Budget.Used == 0,
            $"{Pool.Core.Budget.Used} bytes are charged to the budget of a pool that was disposed");
        Exception? failure = TryCheck();
        for (int wait = 20; failure is not null && wait < 2000; wait *= 2)
        {
            Thread.Sleep(wait); // reports and posted slots that had to go elsewhere travel on the thread pool
            failure = TryCheck();
        }

        if (failure is not null)
        {
            throw new ScheduleException(failure.Message, failure);
        }

        Pool.Dispose();
        Expect(Source.Live == Out, $"{Source.Live} buffers live after the end of the pool, {Out} are out");
        Expect(Pool.Core.Budget.Used == 0, $"{Pool.Core.Budget.Used} bytes are charged to the budget after the end of the pool");
    }

    /// <summary>Disposes the pool while others use it.</summary>
    internal void Dispose(int thread)
    {
        Begin(thread, "dispose the pool");
        Pool.Dispose();
        Note(thread, "disposed the pool");
    }

    /// <summary>Keeps the pool from ending: its tiers may be in a state in which ending it would never return.</summary>
    internal void Abandon() => Abandoned.Add(Pool);

    public override string ToString() => _log.ToString();

    private Exception? TryCheck()
    {
        try
        {
            foreach (Rental rental in Rentals.Where(static r => r.Begun > 0 && r.Owner is null))
            {
                int number = Rentals.IndexOf(rental);
                Expect(rental.Won > 0, $"no return of #{number} was the first");
                Expect(rental.Won == 1 || rental.IsReturnedAtHome, $"{rental.Won} returns of #{number} were the first");
                Expect(rental.Won <= 2, $"{rental.Won} returns of #{number} were the first");
            }

            Pool.Validate();
            Pool.Trim();
            PoolStatistics statistics = Pool.GetStatistics();
            int rented = Rentals.Count(static r => r.Owner is null);
            Expect(statistics.Rented == rented, $"{statistics.Rented} rentals are counted, {rented} were made");
            Expect(statistics.Leased == Out, $"{statistics.Leased} are counted as out, {Out} are");
            Expect(statistics.BytesIdle == 0, $"{statistics.BytesIdle} bytes are idle after everything was trimmed");
            Expect(Source.Live == Out, $"{Source.Live} buffers live, {Out} are out and none is idle");
            Expect(Source.Faults.Count == 0, string.Join("; ", Source.Faults));
            Pool.Validate();
            return null;
        }
        catch (Exception e) when (e is ScheduleException or InvalidOperationException)
        {
            return e;
        }
    }

    private Rental Hold(int thread, BufferLease<byte> lease)
    {
        Rental rental = Begin(lease, new Rental(lease, thread));
        Note(thread, $"has #{Rentals.IndexOf(rental)}");
        return rental;
    }

    private Rental Begin(BufferLease<byte> lease, Rental rental)
    {
        lock (_log)
        {
            return BeginAlone(lease, rental);
        }
    }

    private Rental BeginAlone(BufferLease<byte> lease, Rental rental)
    {
        Slot slot = lease.Slot!;
        if (_current.TryGetValue(slot, out Rental? before) && before.Begun == 0)
        {
            throw new ScheduleException($"A buffer has two renters: it was rented as #{Rentals.IndexOf(before)} and not returned since.");
        }

        Expect(slot.IsLeased, "a rented slot has the generation of an idle one");
        _current[slot] = rental;
        Rentals.Add(rental);
        return rental;
    }

    /// <summary>A point outside of every magazine: a thread that stands there is in no other thread's way.</summary>
    private void Begin(int thread, string what)
    {
        Schedule.Point("between");
        Note(thread, what);
    }

    // A thread that has waited for a lock runs beside another one until its next point.
    private void Note(int thread, string what)
    {
        lock (_log)
        {
            _log.Append(System.Globalization.CultureInfo.InvariantCulture, $"\n  T{thread} {what}");
        }
    }

    private static void Expect(bool condition, string otherwise)
    {
        if (!condition)
        {
            throw new ScheduleException(otherwise);
        }
    }
}
