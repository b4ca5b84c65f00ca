namespace Tidepool;

/// <summary>What a lease refers to: its slot, or a sentinel before it.</summary>
internal abstract class LeaseOwner<T>
    where T : class
{
    private protected LeaseOwner(ResourceSlot<T>? slot) => Slot = slot ?? (ResourceSlot<T>)this;

    internal ResourceSlot<T> Slot { get; }
}
