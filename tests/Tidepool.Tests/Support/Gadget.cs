namespace Tidepool.Tests.Support;

/// <summary>An object that knows what was done to it.</summary>
public sealed class Gadget : IDisposable
{
    private int _resets;
    private int _disposals;

    /// <summary>How often it was reset.</summary>
    public int Resets => _resets;

    /// <summary>How often it was disposed.</summary>
    public int Disposals => _disposals;

    /// <summary>Set by a renter: whether it is fit to be used again.</summary>
    public bool IsSpoiled { get; set; }

    /// <summary>Set by a renter: what resetting it throws.</summary>
    public Exception? ThrowsOnReset { get; set; }

    /// <summary>Set by a renter: what disposing it throws.</summary>
    public Exception? ThrowsOnDispose { get; set; }

    public bool TryReset()
    {
        Interlocked.Increment(ref _resets);
        return ThrowsOnReset is { } failure ? throw failure : !IsSpoiled;
    }

    public void Dispose()
    {
        Interlocked.Increment(ref _disposals);
        if (ThrowsOnDispose is { } failure)
        {
            throw failure;
        }
    }
}
