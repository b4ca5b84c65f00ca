namespace Tidepool;

/// <summary>
/// What an <see cref="ObjectPool{T}"/> is made of, besides its policy. Everything has a default that is safe and bounded.
/// </summary>
public sealed class ObjectPoolOptions
{
    /// <summary>
    /// The name in messages, events and metrics. The default is the type's name and a number; a further pool of a name gets one too
    /// (<c>name#2</c>).
    /// </summary>
    public string? Name { get; init; }

    /// <summary>
    /// The most objects that may wait idle, 0 or more. A rental never fails for the budget: what does not fit is destroyed on return. A
    /// thread that rents has room for up to 15 objects reserved out of it, and for up to 64 once it goes through hundreds, if half of the
    /// budget stays free; when the rest is not enough the threads' room is taken back, and objects are rented from one stock until the
    /// budget has room again.
    /// </summary>
    public int Budget { get; init; } = 4096;

    /// <summary>
    /// What one object is taken to weigh with everything it holds, in bytes, 1 or more. It is charged to the process's budget while the
    /// object is idle, and decides how many a thread may hold: up to 15 of up to 16 KiB, or 64 of up to 4 KiB once it goes through
    /// hundreds; fewer of heavier ones.
    /// </summary>
    public int ItemBytes { get; init; } = 1024;

    /// <summary>How much is checked. The default is the mode of the process.</summary>
    public PoolChecks? Checks { get; init; }

    /// <summary>In full checks, whether every rental records where it was made and returned; otherwise 1 in 128 does.</summary>
    public bool CaptureStacks { get; init; }

    /// <summary>
    /// One new object in this many is watched for its lease being dropped without return, with the place of its first rental. 0 watches
    /// none. Full checks watch all, leased and raw.
    /// </summary>
    public int LeakSampling { get; init; } = 64;

    /// <summary>Checks the values as making a pool does, for programs that read them from a configuration.</summary>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space.</exception>
    public void Validate() => Check(this);

    /// <exception cref="ArgumentOutOfRangeException">An option is out of range.</exception>
    internal static void Check(ObjectPoolOptions options)
    {
        PoolName.Check(options.Name, nameof(options));
        PoolOption.Check(options.Budget >= 0, options.Budget, "Budget must be 0 objects or more.");
        PoolOption.Check(options.ItemBytes >= 1, options.ItemBytes, "ItemBytes must be 1 or more.");
        PoolOption.CheckCommon(options.LeakSampling, options.Checks);
    }
}
