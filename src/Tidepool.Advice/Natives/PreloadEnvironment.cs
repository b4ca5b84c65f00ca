using System.Globalization;

namespace Tidepool.Preloading;

/// <summary>
/// The environment of a program under the preload library: <c>advise</c> starts programs in it, and lab <c>advise</c> measures what that
/// costs them.
/// </summary>
internal static class PreloadEnvironment
{
    /// <summary>The mean bytes between two samples: that of the runtime of .NET, so that one estimate fits both.</summary>
    public const int MeanBytes = 102_400;

    private const string Preloaded = "LD_PRELOAD";

    /// <summary>Preloads the library, before what is preloaded already.</summary>
    /// <param name="environment">The environment of the program.</param>
    /// <param name="library">The file of the library.</param>
    public static void Preload(IDictionary<string, string?> environment, string library)
    {
        string? others = environment.TryGetValue(Preloaded, out string? preloaded) ? preloaded : null;
        environment[Preloaded] = string.IsNullOrEmpty(others) ? library : $"{library}:{others}";
    }

    /// <summary>Preloads the library and lets it log samples of what the program allocates.</summary>
    /// <param name="environment">The environment of the program.</param>
    /// <param name="library">The file of the library.</param>
    /// <param name="log">How the path of each log begins.</param>
    public static void Record(IDictionary<string, string?> environment, string library, string log)
    {
        Preload(environment, library);
        environment["TIDEPOOL_SAMPLE_BYTES"] = MeanBytes.ToString(CultureInfo.InvariantCulture);
        environment["TIDEPOOL_SAMPLE_LOG"] = log;
    }
}
