namespace Tidepool;

/// <summary>Whether a <see cref="PooledMemoryPool{T}"/> gives the same owner to one renter after another.</summary>
public enum OwnerReuse
{
    /// <summary>
    /// Each rental allocates one object of 40 bytes. A second Dispose of it does nothing, however late it comes.
    /// </summary>
    Never,

    /// <summary>
    /// A rental that a thread's own items serve allocates nothing. A disposed owner waits behind at least 16 others of its thread and size
    /// before it serves again, and until then a second Dispose of it does nothing.
    /// </summary>
    Guarded,

    /// <summary>
    /// A rental allocates nothing, and the owner may serve the very next rental. A second Dispose may therefore end the rental of another
    /// renter, whose memory then goes to a third one, and nothing notices it: for code that is known to dispose each owner once.
    /// Racing disposals return the memory once, as long as no new rental begins between them.
    /// </summary>
    Unguarded,
}
