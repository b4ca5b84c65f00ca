using System.Globalization;
using Xunit.Abstractions;

namespace Tidepool.Tests.Support;

/// <summary>Random tests print their seed; TIDEPOOL_TEST_SEED repeats a run.</summary>
public static class Seeds
{
    public static Random New(ITestOutputHelper output)
    {
        ArgumentNullException.ThrowIfNull(output);
        string? given = Environment.GetEnvironmentVariable("TIDEPOOL_TEST_SEED");
        int seed = given is null ? Random.Shared.Next() : int.Parse(given, CultureInfo.InvariantCulture);
        output.WriteLine($"seed {seed} (repeat with TIDEPOOL_TEST_SEED={seed})");
        return new Random(seed);
    }
}
