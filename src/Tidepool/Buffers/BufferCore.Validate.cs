namespace Tidepool;

/// <content>The invariants of the tiers as code.</content>
internal sealed partial class BufferCore<T>
{
    /// <summary>No buffer waits in two places, every magazine and stripe is in order, and the budget adds up. Quiescent use.</summary>
    internal void Validate()
    {
        var seen = new HashSet<object>(ReferenceEqualityComparer.Instance);
        var faults = new List<string>();
        ThreadTier.ForEach(magazine =>
        {
            if (magazine.Bucket.Station == this && !magazine.IsValid(seen))
            {
                faults.Add($"a thread's magazine of {magazine.Bucket.ItemLength} elements");
            }
        });
        foreach (Bucket bucket in Buckets())
        {
            if (!bucket.Shared.IsValid(seen))
            {
                faults.Add($"the shared tier of {bucket.ItemLength} elements");
            }
        }

        foreach (object item in Guard?.Snapshot() ?? [])
        {
            CheckRest(item, seen, faults);
        }

        if (!Budget.IsValid())
        {
            faults.Add("the budget (less than nothing is charged)");
        }

        var arrays = new HashSet<object>(ReferenceEqualityComparer.Instance);
        if (Geometry.HasWholeArrays && !seen.All(i => arrays.Add(i is PooledSlot<T> slot ? slot.Array! : i)))
        {
            faults.Add("the arrays (one lies in two places)");
        }

        if (faults.Count > 0)
        {
            throw new InvalidOperationException($"Pool '{Name}' is not valid: {string.Join("; ", faults)}.");
        }
    }

    private static void CheckRest(object item, HashSet<object> seen, List<string> faults)
    {
        Span<T> whole = item is PooledSlot<T> slot ? slot.Whole() : (T[])item;
        if (!seen.Add(item))
        {
            faults.Add("the quarantine (an item rests twice)");
        }
        else if (Guard<T>.FindDamage(whole) is var damage and >= 0)
        {
            faults.Add($"the quarantine (element {damage} of a returned buffer of {whole.Length} was written to)");
        }
    }
}
