using System.Buffers;

namespace Tidepool.Models.Scenarios;

/// <summary>One rental and what its renters have done with it.</summary>
internal sealed class Rental(BufferLease<byte> lease, int renter)
{
    internal BufferLease<byte> Lease { get; } = lease;

    /// <summary>The thread that rented.</summary>
    internal int Renter { get; } = renter;

    /// <summary>The owner that the rental was moved to from another lease, if it was.</summary>
    internal IMemoryOwner<byte>? Owner { get; init; }

    /// <summary>The returns that have begun. A slot may be handed out again as soon as one has.</summary>
    internal int Begun { get; set; }

    /// <summary>The returns that were told to be the first.</summary>
    internal int Won { get; set; }

    /// <summary>Whether the rental went on under a new ticket.</summary>
    internal bool IsMoved { get; set; }

    /// <summary>
    /// Whether the renting thread itself took part in the returns: then two may believe to be first, and one of them is ignored.
    /// </summary>
    internal bool IsReturnedAtHome { get; set; }
}
