namespace Tidepool.Advice;

/// <summary>Turns a count that grows into a rate: between its last value and the one before.</summary>
internal sealed class Rate
{
    private double _value;
    private double _seconds = double.NaN;

    /// <summary>Per second; null until there are two values, and after a fall: another thing counts under this name.</summary>
    public double? PerSecond { get; private set; }

    /// <summary>How much the count grew between the last two values.</summary>
    public double? Growth { get; private set; }

    /// <summary>Adds a value.</summary>
    /// <param name="value">The count.</param>
    /// <param name="seconds">When it was read.</param>
    public void Add(double value, double seconds)
    {
        bool hasBefore = seconds > _seconds && value >= _value;
        Growth = hasBefore ? value - _value : null;
        PerSecond = hasBefore ? (value - _value) / (seconds - _seconds) : null;
        (_value, _seconds) = (value, seconds);
    }
}
