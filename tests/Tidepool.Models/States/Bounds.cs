namespace Tidepool.Models.States;

/// <summary>What an exploration lets happen.</summary>
public sealed record Bounds
{
    /// <summary>Places of the pool.</summary>
    public required int Slots { get; init; }

    /// <summary>Rentals that wait, or whose threads work, at the same time.</summary>
    public required int Waiting { get; init; }

    /// <summary>How many of those are parked threads.</summary>
    public int Parked { get; init; }

    /// <summary>Creations that fail.</summary>
    public int Failures { get; init; }

    /// <summary>Operations that find their resource bad, and leases that are marked broken.</summary>
    public int Bad { get; init; }

    /// <summary>Clears, resizes and a shutdown.</summary>
    public int Changes { get; init; }

    /// <summary>How often the clock moves to what is due next.</summary>
    public int Ticks { get; init; }

    /// <summary>Rentals that give up.</summary>
    public int Cancels { get; init; }

    /// <summary>How long a rental waits, in milliseconds; null is without end.</summary>
    public long? Patience { get; init; }

    public bool KeepsWarm { get; init; }

    public bool Expires { get; init; }

    public bool Validates { get; init; }
}
