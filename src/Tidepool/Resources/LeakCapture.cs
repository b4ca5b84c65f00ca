namespace Tidepool;

/// <summary>What is recorded of each rental, for reports about leases that do not come back.</summary>
public enum LeakCapture
{
    /// <summary>Nothing: a rental costs no allocation.</summary>
    None,

    /// <summary>The method that rented. Costs a walk of the stack for each rental.</summary>
    CallSite,

    /// <summary>The whole stack. Costs a walk of the stack for each rental.</summary>
    Stack,
}
