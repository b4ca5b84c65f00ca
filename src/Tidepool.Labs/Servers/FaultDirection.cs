namespace Tidepool.Labs;

/// <summary>
/// What happens to the bytes that flow one way through a <see cref="FaultProxy"/>. Every member may be changed at any time, from any
/// thread, and counts for what arrives from then on.
/// </summary>
internal sealed class FaultDirection
{
    private readonly Lock _gate = new();
    private TaskCompletionSource? _opening;
    private long _latencyTicks;
    private int _bytesPerSecond = int.MaxValue;
    private int _sliceBytes = int.MaxValue;
    private long _limitBytes = long.MaxValue;
    private long _pieces;

    /// <summary>How long each piece that arrives is held back; zero or more. The pieces of one connection wait one after another.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is negative.</exception>
    public TimeSpan Latency
    {
        get => new(Volatile.Read(ref _latencyTicks));
        set
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, TimeSpan.Zero);
            Volatile.Write(ref _latencyTicks, value.Ticks);
        }
    }

    /// <summary>The bytes that each connection passes in a second, 1 or more; unlimited at first.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is less than 1.</exception>
    public int BytesPerSecond
    {
        get => Volatile.Read(ref _bytesPerSecond);
        set => Volatile.Write(ref _bytesPerSecond, AtLeastOne(value));
    }

    /// <summary>The most bytes that go out in one piece, 1 or more; unlimited at first.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It is less than 1.</exception>
    public int SliceBytes
    {
        get => Volatile.Read(ref _sliceBytes);
        set => Volatile.Write(ref _sliceBytes, AtLeastOne(value));
    }

    /// <summary>
    /// The bytes that each connection passes in all, 0 or more; behind them both its ends are closed in order. Unlimited at first.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">It is negative.</exception>
    public long LimitBytes
    {
        get => Volatile.Read(ref _limitBytes);
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            Volatile.Write(ref _limitBytes, value);
        }
    }

    /// <summary>
    /// The pieces that have arrived so far, on all connections: what clients send, where each waits for the answer, is one for each round
    /// trip.
    /// </summary>
    public long Pieces => Volatile.Read(ref _pieces);

    /// <summary>
    /// Whether nothing passes, silently: bytes and ends of connections are kept until this is false again, as a cable that was pulled
    /// does it.
    /// </summary>
    public bool IsBlackhole
    {
        get
        {
            lock (_gate)
            {
                return _opening is not null;
            }
        }

        set
        {
            TaskCompletionSource? opened = null;
            lock (_gate)
            {
                if (value)
                {
                    _opening ??= new(TaskCreationOptions.RunContinuationsAsynchronously);
                }
                else
                {
                    (opened, _opening) = (_opening, null);
                }
            }

            opened?.SetResult();
        }
    }

    /// <summary>Waits while nothing passes.</summary>
    public async Task WaitUntilOpenAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            Task opening;
            lock (_gate)
            {
                if (_opening is null)
                {
                    return;
                }

                opening = _opening.Task;
            }

            await opening.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Another piece has arrived.</summary>
    public void CountPiece() => Interlocked.Increment(ref _pieces);

    private static int AtLeastOne(int value)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(value, 1);
        return value;
    }
}
