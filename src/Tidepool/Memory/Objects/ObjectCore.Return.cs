using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>Returning off the fast path, and misuse.</content>
internal sealed partial class ObjectCore<T, TPolicy>
{
    /// <summary>Keeps a slot whose rental has ended and whose object was reset.</summary>
    internal void KeepSlot(PooledObject<T, TPolicy> slot)
    {
        if (IsTracked)
        {
            slot.Record!.TryEnd(CallerStack.Capture);
        }

        if (PutTight(_slots, slot, hasTicket: true) != ReturnOutcome.Returned)
        {
            Put(_slots, slot, hasTicket: true);
        }
    }

    /// <summary>Destroys the object of a slot whose rental has ended: it could not be reset.</summary>
    internal void RefuseSlot(PooledObject<T, TPolicy> slot)
    {
        CountRefusal();
        DestroyItem(slot);
    }

    /// <summary>The rental has ended and the object leaves the pool in its renter's hands.</summary>
    internal void Detach(PooledObject<T, TPolicy> slot)
    {
        slot.Record?.StopWatching();
        Counters.AddReturns(1, _slots.ItemBytes);
    }

    /// <summary>Checks a raw return in full checks: the object must be one of this pool that is out.</summary>
    private void EndRecord(T item)
    {
        if (!_records!.TryGetValue(item, out RentalRecord? record))
        {
            throw Misuse(MisuseKind.ForeignReturn, One, null);
        }

        if (!record.TryEnd(CallerStack.Capture))
        {
            throw Misuse(MisuseKind.DoubleReturn, One, record.Where());
        }
    }

    /// <summary>Resets an object whose raw rental ends. One that cannot be used again is destroyed.</summary>
    /// <returns>Whether it may be kept.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool ResetRaw(T item)
    {
        // Finally, not catch: only with that does the compiler inline the method.
        bool isFit = false;
        try
        {
            isFit = Policy.TryReset(item);
        }
        finally
        {
            if (!isFit)
            {
                RefuseRaw(item);
            }
        }

        return isFit;
    }

    /// <summary>Ends a raw rental where the fast path could not.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void ReturnRaw(T item)
    {
        ArgumentNullException.ThrowIfNull(item);
        if (IsTracked)
        {
            EndRecord(item);
        }

        if (!ResetRaw(item))
        {
            return;
        }

        ReturnOutcome outcome = PutTight(_raw, item, hasTicket: false);
        if (outcome == ReturnOutcome.Retired)
        {
            OnTwice(item);
        }
        else if (outcome == ReturnOutcome.Closed)
        {
            KeepRaw(item);
        }
    }

    /// <summary>Keeps an object that was rented raw and was reset.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void KeepRaw(T item)
    {
        if (!Put(_raw, item, hasTicket: false))
        {
            OnTwice(item);
        }
    }

    /// <summary>
    /// Destroys an object that was rented raw and could not be reset, unless it lies idle here: then it was returned twice.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void RefuseRaw(T item)
    {
        if (!Retired && IsIdle(_raw, ThreadTier.FindSlow(_raw), item))
        {
            OnTwice(item);
            return;
        }

        CountRefusal();
        DestroyItem(item);
    }

    /// <summary>Answers the use of a ticket that has ended.</summary>
    internal void OnRetired(PooledObject<T, TPolicy> slot, MisuseKind kind) =>
        AnswerRetired(kind, slot.IsLeased, Checks, slot, static slot => new($"ObjectLease<{TypeName.Of<T>()}>", slot.Record?.Where()));

    private void CountRefusal()
    {
        Counters.AddReturns(1, _slots.ItemBytes);
        Interlocked.Increment(ref Counters.Refused);
    }

    private void OnTwice(T item)
    {
        PoolMisuseException misuse = Misuse(MisuseKind.DoubleReturn, One, MisuseText.IdleAlready);
        if (Checks != PoolChecks.Off)
        {
            throw misuse;
        }
    }
}
