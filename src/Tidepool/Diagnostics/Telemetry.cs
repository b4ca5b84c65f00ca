using System.Diagnostics.Metrics;
using System.Text;

namespace Tidepool;

/// <summary>The meter of the process, and the names and tags that it shares with the activity source of <see cref="PoolSpan"/>.</summary>
internal static class Telemetry
{
    /// <summary>What a program passes to <c>AddMeter</c> and <c>AddSource</c>.</summary>
    internal const string Name = "Tidepool";

    /// <summary>The tag with the pool's name.</summary>
    internal const string PoolTag = "tidepool.pool.name";

    /// <summary>The tag with the key of a keyed pool.</summary>
    internal const string KeyTag = "tidepool.pool.key";

    /// <summary>The conventions' tag for the type of an exception.</summary>
    internal const string ErrorTag = "error.type";

    internal static readonly Meter Meter = new(Name);

    /// <summary>
    /// Makes an instrument. A listener that throws when it hears of it ends the call in its middle: the meter has the instrument all the
    /// same, so it is asked for it, and a pool is made as if no listener had thrown. Listeners behind the one that throws do not hear of
    /// the instrument.
    /// </summary>
    /// <param name="meter">The meter.</param>
    /// <param name="name">The name of the instrument.</param>
    /// <param name="create">Makes it.</param>
    internal static T Create<T>(Meter meter, string name, Func<Meter, string, T> create)
        where T : Instrument
    {
        T? found = null;
        try
        {
            return create(meter, name);
        }
        catch (Exception) when ((found = Find<T>(meter, name)) is not null)
        {
            return found;
        }
    }

    private static T? Find<T>(Meter meter, string name)
        where T : Instrument
    {
        T? found = null;
        using var listener = new MeterListener
        {
            InstrumentPublished = (one, _) => found = one is T fitting && one.Meter == meter && one.Name == name ? fitting : found,
        };
        listener.Start(); // hears of all instruments that are there
        return found;
    }

    /// <summary>A name of the code as values of tags are written: <c>double_return</c>.</summary>
    internal static string Snake(string name)
    {
        var text = new StringBuilder();
        foreach (char letter in name)
        {
            text.Append(text.Length > 0 && char.IsUpper(letter) ? "_" : "").Append(char.ToLowerInvariant(letter));
        }

        return text.ToString();
    }
}
