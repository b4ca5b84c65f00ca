namespace Tidepool;

/// <summary>Where the resource of a slot is. Changes only under the pool's gate; docs/design/resources.md has the table of changes.</summary>
internal enum SlotState
{
    /// <summary>The slot has no resource and takes no place.</summary>
    Free,

    /// <summary>A resource is being made; the place is taken.</summary>
    Creating,

    /// <summary>The policy validates, resets or keeps alive; nobody else may have the resource.</summary>
    Checking,

    /// <summary>In the list of idle resources.</summary>
    Idle,

    /// <summary>A renter has it, or its return is at work on it.</summary>
    Leased,

    /// <summary>The policy ends it; the place is still taken.</summary>
    Destroying,

    /// <summary>Its operation took too long: the place was given up, and the slot serves nobody any more.</summary>
    Abandoned,
}

/// <summary>What the policy is to do with the resource of a slot.</summary>
internal enum SlotWork
{
    /// <summary>Make one.</summary>
    Create,

    /// <summary>Validate, and reset where that is due on rent; then serve whoever is first.</summary>
    Check,

    /// <summary>Reset after a return, on a thread that waits for it.</summary>
    Reset,

    /// <summary>Keep alive.</summary>
    KeepAlive,

    /// <summary>End it.</summary>
    Destroy,
}
