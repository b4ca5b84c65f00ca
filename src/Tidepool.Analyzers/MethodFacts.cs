namespace Tidepool.Analyzers;

/// <summary>What a rental is, which decides how it ends and what a second end means.</summary>
internal enum RentalKind
{
    /// <summary>An array of ArrayPool: carries no ticket, may be dropped.</summary>
    Array,

    /// <summary>An object of an object pool, without a lease: carries no ticket, may be dropped.</summary>
    Object,

    /// <summary>An IMemoryOwner.</summary>
    Owner,

    /// <summary>A lease with a ticket: a second Return throws, a late Dispose does nothing.</summary>
    Lease,

    /// <summary>A ref struct over a raw array: a second Dispose returns the array twice.</summary>
    Scope,

    /// <summary>A private stock of one thread.</summary>
    Handle,

    /// <summary>A stream, a writer or a scope that holds pooled memory until it is disposed.</summary>
    Disposable,
}

/// <summary>What a call does to rentals.</summary>
internal enum MethodRole
{
    /// <summary>Not known: it may keep what it gets.</summary>
    Unknown,

    /// <summary>The result is a rental.</summary>
    Rent,

    /// <summary>The awaited result is a rental.</summary>
    RentAsync,

    /// <summary>An out argument is a rental when the result is true.</summary>
    TryRent,

    /// <summary>Returns its first argument.</summary>
    ReturnArgument,

    /// <summary>Returns the instance, and throws when it was returned before.</summary>
    ReturnInstance,

    /// <summary>Ends the instance, any number of times.</summary>
    Dispose,

    /// <summary>Ends the lease and gives what it held to someone else.</summary>
    HandOn,

    /// <summary>Passes a pending rental through: ConfigureAwait, AsTask.</summary>
    Pending,

    /// <summary>Reads or writes its arguments and keeps none.</summary>
    Reader,
}

/// <summary>What the catalog knows of one method.</summary>
internal readonly struct MethodFacts(MethodRole role, RentalKind kind = RentalKind.Array)
{
    internal MethodRole Role { get; } = role;

    internal RentalKind Kind { get; } = kind;

    /// <summary>Whether a method body that calls it is worth a flow analysis.</summary>
    internal bool StartsAnalysis =>
        Role is MethodRole.Rent or MethodRole.RentAsync or MethodRole.TryRent or MethodRole.ReturnArgument or MethodRole.ReturnInstance;
}
