namespace Tidepool;

/// <content>What is particular to buffers in statistics and invariants: the quarantine, and arrays inside of slots.</content>
internal sealed partial class BufferCore<T>
{
    protected override (int Count, long Bytes) Resting => Quarantine is null ? default : (Quarantine.RestingCount, Quarantine.RestingBytes);

    protected override void CheckItems(HashSet<object> idle, List<string> faults)
    {
        foreach (object item in Quarantine?.Snapshot() ?? [])
        {
            CheckRest(item, idle, faults);
        }

        var arrays = new HashSet<object>(ReferenceEqualityComparer.Instance);
        if (Settings.HasWholeArrays && !idle.All(i => arrays.Add(i is PooledSlot<T> slot ? slot.Array! : i)))
        {
            faults.Add("the arrays (one lies in two places)");
        }
    }

    private static void CheckRest(object item, HashSet<object> seen, List<string> faults)
    {
        Span<T> whole = item is PooledSlot<T> slot ? slot.Whole() : (T[])item;
        if (!seen.Add(item))
        {
            faults.Add("the quarantine (an item rests twice)");
        }
        else if (Quarantine<T>.FindDamage(whole) is var damage and >= 0)
        {
            faults.Add($"the quarantine (element {damage} of a returned buffer of {whole.Length} was written to)");
        }
    }
}
