using System.Runtime.InteropServices;

namespace Tidepool.Labs;

/// <summary>
/// Producer and consumer: one thread rents and puts into a ring, the other takes out and returns, in batches. The same ring serves every
/// subject; an operation is one buffer that went all the way.
/// </summary>
internal sealed class RingLoop<TSubject, TItem>(int length, int capacity, int batch) : Loop
    where TSubject : struct, IRentalSubject<TSubject, TItem>
    where TItem : struct
{
    private readonly TItem[] _ring = new TItem[capacity];
    private RingEnds _ends;

    /// <inheritdoc/>
    public override int BatchFactor => 4;

    /// <inheritdoc/>
    public override int Granularity => batch;

    /// <inheritdoc/>
    public override void Run(int operations) => Measure(operations);

    /// <inheritdoc/>
    public override Sample Measure(int operations)
    {
        _ends = default;
        return WorkerCrew.Of(2).Measure(
            member =>
            {
                try
                {
                    if (member == 0)
                    {
                        Produce(operations);
                    }
                    else
                    {
                        Consume(operations);
                    }
                }
                catch
                {
                    Volatile.Write(ref _ends.Broken, true);
                    throw;
                }
            },
            operations);
    }

    private void Produce(int operations)
    {
        TSubject subject = TSubject.Open(length);
        var ring = _ring;
        for (int tail = 0; tail < operations; tail += batch)
        {
            WaitUntil(ref _ends.Head, tail - capacity + batch);
            for (int i = tail; i < tail + batch; i++)
            {
                TItem item = subject.Rent(length);
                subject.Touch(item);
                ring[i & (capacity - 1)] = item;
            }

            Volatile.Write(ref _ends.Tail, tail + batch);
        }

        TSubject.Close(ref subject);
    }

    private void Consume(int operations)
    {
        TSubject subject = TSubject.Open(length);
        var ring = _ring;
        for (int head = 0; head < operations; head += batch)
        {
            WaitUntil(ref _ends.Tail, head + batch);
            for (int i = head; i < head + batch; i++)
            {
                TItem item = ring[i & (capacity - 1)];
                subject.Touch(item);
                subject.Return(item);
            }

            Volatile.Write(ref _ends.Head, head + batch);
        }

        TSubject.Close(ref subject);
    }

    private void WaitUntil(ref int position, int least)
    {
        var wait = new SpinWait();
        while (Volatile.Read(ref position) < least)
        {
            if (Volatile.Read(ref _ends.Broken))
            {
                throw new InvalidOperationException("The other end of the ring failed.");
            }

            wait.SpinOnce(sleep1Threshold: -1);
        }
    }
}

/// <summary>How far the two ends of a ring are, each in a cache line of its own.</summary>
[StructLayout(LayoutKind.Explicit, Size = 384)]
internal struct RingEnds
{
    /// <summary>Taken out so far.</summary>
    [FieldOffset(64)]
    public int Head;

    /// <summary>Put in so far.</summary>
    [FieldOffset(192)]
    public int Tail;

    /// <summary>Whether one end failed.</summary>
    [FieldOffset(320)]
    public bool Broken;
}
