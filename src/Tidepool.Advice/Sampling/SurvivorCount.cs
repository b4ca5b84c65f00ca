namespace Tidepool.Advice;

/// <summary>
/// Adds up what collections have let survive, from the events of their starts and of their statistics. Statistics do not say whose they
/// are: while one collection runs in the background, others that stop the program begin and end. A start whose statistics are not seen
/// says nothing, and neither do statistics without a start.
/// </summary>
internal sealed class SurvivorCount
{
    private bool _runsInBackground;
    private bool _stops;
    private bool _stopsForAll;

    /// <summary>Collections that took in the young generations.</summary>
    public int Young { get; private set; }

    /// <summary>Collections that took in the large object heap.</summary>
    public int Full { get; private set; }

    /// <summary>Bytes that the young ones promoted out of generation 0.</summary>
    public long PromotedBytes { get; private set; }

    /// <summary>Bytes of the large object heap that outlived the full ones.</summary>
    public long LargeBytes { get; private set; }

    /// <summary>A collection has begun.</summary>
    /// <param name="depth">The oldest generation that it takes in.</param>
    /// <param name="isInBackground">Whether the program goes on meanwhile: it takes in no young generation then.</param>
    public void Begin(int depth, bool isInBackground)
    {
        if (isInBackground)
        {
            _runsInBackground = true;
            return;
        }

        (_stops, _stopsForAll) = (true, depth >= 2);
    }

    /// <summary>A collection has written its statistics.</summary>
    public void End(long promotedBytes, long largeBytes)
    {
        bool isFull = _stops ? _stopsForAll : _runsInBackground;
        if (_stops)
        {
            Young++;
            PromotedBytes += promotedBytes;
        }

        if (isFull)
        {
            Full++;
            LargeBytes += largeBytes;
        }

        (_stops, _runsInBackground) = (false, _stops && _runsInBackground);
    }
}
