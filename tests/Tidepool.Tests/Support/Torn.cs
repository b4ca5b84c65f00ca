namespace Tidepool.Tests.Support;

/// <summary>Leases as a thread reads them out of a field that another thread is replacing, made by hand because races are rare.</summary>
internal static class Torn
{
    /// <summary>The slot of one lease with the generation and the length of another.</summary>
    internal static BufferLease<T> Of<T>(BufferLease<T> slot, BufferLease<T> rest) => new(slot.Slot!, rest.Generation, rest.Length);

    /// <summary>A good ticket with another length, which no two loads give: the second line must hold against it.</summary>
    internal static BufferLease<T> WithLength<T>(BufferLease<T> lease, int length) => new(lease.Slot!, lease.Generation, length);
}
