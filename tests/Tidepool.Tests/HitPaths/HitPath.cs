namespace Tidepool.Tests.HitPaths;

/// <summary>A rental or a return that finds everything in the thread's own magazine, and the limits of its code.</summary>
/// <param name="Name">What is done.</param>
/// <param name="Methods">The methods whose code it runs; what they inline is part of theirs.</param>
/// <param name="Limit">What the code may consist of: what it consists of today.</param>
internal sealed record HitPath(string Name, string[] Methods, JitListing Limit)
{
    private const string Program = "Tidepool.Tests.HitPaths.HitPathProgram:";

    /// <summary>The runtime of which the limits are.</summary>
    internal static Version Runtime { get; } = new(10, 0, 12);

    /// <summary>The limits: of x64 without instructions that not every such processor has.</summary>
    internal static HitPath[] All { get; } =
    [
        Of("rent a lease", new(70, 1, 0), "RentLease"),
        Of("return a lease", new(71, 3, 0), "ReturnLease"),
        Of(
            "return a lease on another thread", new(613, 48, 1), "ReturnAway", "Tidepool.BufferLease`1:End", "Tidepool.BufferCore`1:Return",
            "Tidepool.Magazine:PrepareSend", "Tidepool.Slot:TryClaim", "Tidepool.Magazine:TrySend", "Tidepool.Magazine:TryPostLater"),
        Of("rent and return a scope", new(136, 4, 0), "RentAndReturnScope"),
        Of("rent an array", new(65, 1, 0), "RentArray"),
        Of("return an array", new(114, 3, 0), "ReturnArray"),
        Of("rent a reused owner", new(176, 8, 0), "RentOwner", "Tidepool.PooledMemoryPool`1:Rent"),
        Of("dispose a reused owner", new(112, 6, 0), "DisposeOwner", "Tidepool.PooledOwner`1:Dispose"),
        Of("rent an object", new(140, 2, 0), "RentObject", "Tidepool.ObjectPool`2:Rent"),
        Of("return an object", new(147, 12, 1), "ReturnObject", "Tidepool.PooledObject`2:TryReturn"),
        Of("make a stream", new(92, 6, 0), "NewStream"),
        Of("dispose a stream", new(106, 6, 0), "DisposeStream"),
        Of("rent a stream", new(107, 7, 0), "RentStream"),
        Of("return a stream", new(94, 5, 1), "ReturnStream"),
        Of("rent a resource", new(152, 12, 0), "RentResource", "Tidepool.ResourcePool`1:Rent", "Tidepool.ResourceCore`1:TakeOpenHot"),
        Of("return a resource", new(246, 16, 4), "ReturnResource", "Tidepool.ResourceLease`1:Dispose", "Tidepool.ResourceCore`1:Return"),
    ];

    public override string ToString() => Name;

    private static HitPath Of(string name, JitListing limit, string root, params string[] called) =>
        new(name, [Program + root, .. called], limit);
}
