namespace Tidepool.Labs;

/// <summary>A kind of pool of resources; a struct, so that each kind has loops of its own.</summary>
/// <typeparam name="TSelf">The struct itself.</typeparam>
/// <typeparam name="TItem">What a renter holds.</typeparam>
internal interface IResourceSubject<TSelf, TItem>
    where TSelf : struct, IResourceSubject<TSelf, TItem>
{
    /// <summary>A full pool of that many resources.</summary>
    static abstract TSelf Open(int size);

    /// <summary>Rents, and parks the thread when there is none.</summary>
    TItem Rent();

    /// <summary>Rents, and awaits when there is none.</summary>
    ValueTask<TItem> RentAsync();

    /// <summary>Touches the resource.</summary>
    void Use(in TItem item);

    /// <summary>The resource that a renter holds.</summary>
    Thing Of(in TItem item);

    /// <summary>Returns.</summary>
    void Return(in TItem item);
}

/// <summary>What is rented: an object with a counter.</summary>
internal sealed class Thing
{
    /// <summary>How often it was used.</summary>
    public long Uses { get; set; }

    /// <summary>The number of the return, among all of its pool, that brought it back last.</summary>
    public long Turn { get; set; }
}
