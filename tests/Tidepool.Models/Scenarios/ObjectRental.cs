namespace Tidepool.Models.Scenarios;

/// <summary>One rental under a lease and what its renters have done with it.</summary>
internal sealed class ObjectRental(ObjectLease<Tracked> lease)
{
    internal ObjectLease<Tracked> Lease { get; } = lease;

    /// <summary>The returns that have begun.</summary>
    internal int Begun { get; set; }

    /// <summary>The returns that were accepted.</summary>
    internal int Won { get; set; }
}
