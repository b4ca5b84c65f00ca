namespace Tidepool.Labs;

/// <summary>
/// One way to rent a buffer. Subjects are structs and loops are generic over them, so every subject has a loop
/// method of its own and no call site is shared. What is rented is a struct as well: a type argument that is a class
/// would make the runtime share the loop's code and charge a lookup that user code does not pay.
/// </summary>
/// <typeparam name="TSelf">The subject itself.</typeparam>
/// <typeparam name="TItem">What a renter holds.</typeparam>
internal interface IRentalSubject<TSelf, TItem>
    where TSelf : struct, IRentalSubject<TSelf, TItem>, allows ref struct
    where TItem : struct, allows ref struct
{
    /// <summary>Called once before a batch.</summary>
    static virtual TSelf Open(int length) => default;

    /// <summary>Rents a buffer of that many elements.</summary>
    TItem Rent(int length);

    /// <summary>Writes the first element, if there is one.</summary>
    void Touch(TItem item);

    /// <summary>Returns the buffer.</summary>
    void Return(TItem item);

    /// <summary>Called once after a batch.</summary>
    static virtual void Close(ref TSelf subject)
    {
    }
}

/// <summary>How rentals follow each other.</summary>
internal static class RentalPattern
{
    /// <summary>Rent and Return in one method.</summary>
    public const string Inlined = "inlined";

    /// <summary>Rent and Return each in a method of its own that is not inlined.</summary>
    public const string CallSite = "call site";

    /// <summary>One thread rents, another returns.</summary>
    public const string Ring = "producer/consumer";

    /// <summary>One thread rents, another returns, one item at a time.</summary>
    public const string PingPong = "ping-pong";

    /// <summary>An await between Rent and Return.</summary>
    public const string Hop = "async hop";
}
