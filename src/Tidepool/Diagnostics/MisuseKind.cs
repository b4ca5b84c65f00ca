namespace Tidepool;

/// <summary>What a renter did wrong.</summary>
public enum MisuseKind
{
    /// <summary>A rental was returned that had been returned before.</summary>
    DoubleReturn,

    /// <summary>A lease was used after it was returned.</summary>
    UseAfterReturn,

    /// <summary>Two threads returned one rental at the same time; one of them won.</summary>
    RacingReturn,

    /// <summary>An array or object was returned to a pool that did not hand it out, or that has it back already.</summary>
    ForeignReturn,

    /// <summary>An array was returned whose length no size class of the pool has.</summary>
    WrongLength,

    /// <summary>A rental was dropped without being returned.</summary>
    NeverReturned,

    /// <summary>Returned memory was written to.</summary>
    WriteAfterReturn,

    /// <summary>A lease was disposed again while what it held was rented again already.</summary>
    StaleDispose,
}
