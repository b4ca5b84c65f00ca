using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <content>Returning off the fast path.</content>
internal sealed partial class BufferCore<T>
{
    /// <summary>Ends a rental: at home, by posting it home, or here when its home is closed.</summary>
    /// <returns>False when the ticket was retired before; nothing was changed then.</returns>
    internal unsafe bool Return(PooledSlot<T> slot, int generation, int length, object? companion)
    {
        Unsafe.SkipInit(out int here);
        Magazine home = slot.Home;
        bool isAtHome = home.IsOwnedBy((nuint)(&here));
        if (isAtHome)
        {
            ReturnOutcome outcome = home.PassesOn
                ? ReturnPastHome(home, slot, generation, length, (nuint)(&here))
                : ReturnAtHome(home, slot, generation, length);
            if (outcome == ReturnOutcome.Returned && companion is not null)
            {
                home.Owners?.Put(companion);
            }

            if (outcome != ReturnOutcome.Closed)
            {
                return outcome == ReturnOutcome.Returned;
            }
        }

        // Buffers that hold references do not wait: what they refer to lives until their home takes them in.
        Magazine? outbox = home.PrepareSend(mayWait: !isAtHome && !BufferPoolSettings<T>.HoldsReferences);
        if (!slot.TryClaim(generation, length, companion, out bool linked))
        {
            return false;
        }

        if (linked)
        {
            // An old posting has the slot on its way home, where this return is settled. That one had lost its race, and counts here.
            ReportLater(MisuseKind.RacingReturn, static () => new(null, MisuseText.LostRace));
            return true;
        }

        if (home.TrySend(slot, outbox))
        {
            return true;
        }

        if (!slot.TryEndPosted(out _))
        {
            ReportLater(MisuseKind.RacingReturn, static () => new(null, MisuseText.LostRace));
            return false;
        }

        TakeBack(slot, length);
        return true;
    }

    /// <summary>Ends the rental and detaches the buffer.</summary>
    internal unsafe ArraySegment<T> Detach(PooledSlot<T> slot, int generation, int length)
    {
        if (slot.Array is not { } array)
        {
            throw new NotSupportedException($"The buffers of pool '{Name}' are native memory and cannot leave it.");
        }

        Unsafe.SkipInit(out int here);
        if (!slot.Home.TryTakeBack(slot, generation, (nuint)(&here)))
        {
            OnRetired(slot, MisuseKind.UseAfterReturn);
        }

        slot.Record?.StopWatching();
        Counters.AddReturns(1, slot.Bucket.ItemBytes);
        return new ArraySegment<T>(array, slot.Offset, length);
    }

    /// <summary>Answers the use of a ticket that has ended.</summary>
    internal void OnRetired(PooledSlot<T> slot, MisuseKind kind)
    {
        bool isOutAgain = slot.IsLeased && !slot.IsPosted;
        AnswerRetired(
            kind, isOutAgain, Settings.Checks, slot, static slot => new($"BufferLease<{TypeName.Of<T>()}>", slot.Record?.Where()));
    }

    /// <summary>Keeps an idle item in the tiers, or gives it to the source.</summary>
    /// <exception cref="PoolMisuseException">An array lies idle here already.</exception>
    internal void Keep(Bucket bucket, object item)
    {
        if (!Put(bucket, item, hasTicket: !bucket.HoldsArrays))
        {
            OnTwice((T[])item);
        }
    }

    /// <summary>Ends the rest of everything in quarantine: into the tiers, or to the source when the pool is retired.</summary>
    internal override void EndRest()
    {
        while (Quarantine?.TryWake() is { } item)
        {
            PutRested(item);
        }
    }

    private static ReturnOutcome ReturnAtHome(Magazine home, PooledSlot<T> slot, int generation, int length)
    {
        Chunk? flushed;
        ReturnOutcome outcome = BufferPoolSettings<T>.HoldsReferences
            ? home.ReturnSlow(slot, generation, slot.ToClear(length), out flushed)
            : home.ReturnSlow(slot, generation, default(NoClear), out flushed);
        home.PutShared(flushed);
        return outcome;
    }

    /// <summary>Ends the rental of a large buffer whose home is full, and keeps it in the shared tier.</summary>
    /// <returns>Closed when the ticket is retired or claimed, for the claim to decide.</returns>
    private ReturnOutcome ReturnPastHome(Magazine home, PooledSlot<T> slot, int generation, int length, nuint here)
    {
        if (!home.TryTakeBack(slot, generation, here))
        {
            return ReturnOutcome.Closed;
        }

        slot.ClearReferences(length);
        Keep(slot.Bucket, slot);
        return ReturnOutcome.Returned;
    }

    /// <summary>Does what the options ask for with a slot whose rental has just ended, and keeps it.</summary>
    private void TakeBack(PooledSlot<T> slot, int length)
    {
        Bucket bucket = slot.Bucket;
        if (TidepoolEventSource.Rentals)
        {
            TidepoolEventSource.Log.BufferReturned(slot.GetHashCode(), slot.Capacity, PoolId);
        }

        if (Settings.Secrets)
        {
            Wipe(slot.Whole());
        }
        else if (Settings.Clear == ClearMode.OnReturn)
        {
            slot.Reachable(length).Clear();
        }

        if (!bucket.IsKept)
        {
            Counters.AddReturns(1, bucket.ItemBytes);
            EvictDropped(bucket, [slot]);
        }
        else if (Quarantine is not null)
        {
            Quarantine<T>.Fill(slot.Whole());
            slot.Record!.IsPoisoned = true;
            slot.Record.TryEnd(CallerStack.Capture);
            LetRest(slot, bucket.ItemBytes);
        }
        else
        {
            Keep(bucket, slot);
        }
    }

    private void LetRest(object item, long bytes)
    {
        Trimmer.Wake(); // an epoch ends the rest
        object? rested = Quarantine!.Rest(item, bytes);
        while (rested is not null)
        {
            PutRested(rested);
            rested = Quarantine.IsCrowded ? Quarantine.TryWake() : null;
        }

        if (Retired)
        {
            EndRest();
        }
    }

    private void PutRested(object item)
    {
        Bucket? bucket = item is PooledSlot<T> slot ? slot.Bucket : FindMade(LengthOf(item), holdsArrays: true);
        if (bucket is not null)
        {
            Keep(bucket, item);
        }
    }

    private static void Wipe(Span<T> whole)
    {
        if (BufferPoolSettings<T>.HoldsReferences)
        {
            whole.Clear();
            return;
        }

        ref byte first = ref Unsafe.As<T, byte>(ref MemoryMarshal.GetReference(whole));
        long bytes = BufferPoolSettings<T>.BytesOf(whole.Length);
        for (long done = 0; done < bytes; done += int.MaxValue)
        {
            CryptographicOperations.ZeroMemory(
                MemoryMarshal.CreateSpan(ref Unsafe.Add(ref first, (nint)done), (int)Math.Min(int.MaxValue, bytes - done)));
        }
    }
}
