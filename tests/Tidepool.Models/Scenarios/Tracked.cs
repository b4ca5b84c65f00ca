namespace Tidepool.Models.Scenarios;

/// <summary>Where an object is. It is in one place at a time, and every step from one to another is checked.</summary>
internal enum Place
{
    /// <summary>Made for the renter who waits for it.</summary>
    New,

    /// <summary>With its renter.</summary>
    Rented,

    /// <summary>Returned; the policy resets it.</summary>
    Resetting,

    /// <summary>Reset, so it may wait in a tier.</summary>
    Idle,

    /// <summary>The policy would not reset it.</summary>
    Refused,

    /// <summary>Gone.</summary>
    Destroyed,

    /// <summary>The renter's for good.</summary>
    Detached,
}

/// <summary>An object of the model.</summary>
internal sealed class Tracked(int number)
{
    internal int Number { get; } = number;

    internal Place Place { get; set; }
}
