using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>Renting off the fast path.</content>
internal sealed partial class ObjectCore<T, TPolicy>
{
    /// <summary>A slot for a lease, its rental counted. The lease begins it.</summary>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal PooledObject<T, TPolicy> RentSlot()
    {
        ThrowIfRetired();
        while (true)
        {
            var slot = Unsafe.As<PooledObject<T, TPolicy>>(Next(_slots, out bool isNew));
            if (isNew || IsFit(slot.Item))
            {
                if (IsTracked)
                {
                    slot.Record!.TryBegin(_stacks.Sample());
                }

                return slot;
            }

            Counters.UndoRental(_slots.ItemBytes);
            DestroyItem(slot);
        }
    }

    /// <summary>An object for a raw rental, its rental counted.</summary>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal T RentRaw()
    {
        ThrowIfRetired();
        while (true)
        {
            T item = Unsafe.As<T>(Next(_raw, out bool isNew));
            if (isNew || IsFit(item))
            {
                _records?.GetOrAdd(item, _ => new RentalRecord(this, null, _slots.ItemBytes, One)).TryBegin(_stacks.Sample());
                return item;
            }

            Counters.UndoRental(_raw.ItemBytes);
            DestroyItem(item);
        }
    }

    /// <summary>
    /// An item from this thread's magazine, or from the shared tier where no thread has one, and else from wherever there is one. A pool
    /// that validates has no other fast path than this one.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private object Next(Bucket bucket, out bool isNew)
    {
        if (IsTight)
        {
            if (bucket.Shared.TryRentOne() is { } single)
            {
                isNew = false;
                return single;
            }
        }
        else if (ThreadTier.Find(bucket.Id) is { } magazine && magazine.Bucket == bucket && magazine.TryPopLast() is { } item)
        {
            isNew = false;
            return item;
        }

        return Take(bucket, out isNew);
    }

    private bool IsFit(T item)
    {
        if (_validator is null)
        {
            return true;
        }

        bool isFit = false;
        try
        {
            isFit = _validator.Validate(item);
        }
        catch (Exception e)
        {
            OnFailure(e);
        }

        if (!isFit)
        {
            Interlocked.Increment(ref Counters.Refused);
        }

        return isFit;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void ThrowIfRetired()
    {
        if (Retired)
        {
            ThrowRetired();
        }
    }

    private void ThrowRetired() => throw new ObjectDisposedException(
        $"ObjectPool<{TypeName.Of<T>()}>", $"Pool '{Name}' was disposed; nothing can be rented from it.");
}
