using System.Diagnostics.Metrics;
using System.Text.RegularExpressions;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics;

/// <summary>The tables of docs/signals.md have the instruments of the meter: all of them and no others, with unit and kind.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed partial class InstrumentTableTests : PoolTest
{
    [Fact]
    public async Task The_page_lists_every_instrument_with_its_unit_and_kind()
    {
        SortedSet<string> published = [];
        using MeterListener listener = new();
        listener.InstrumentPublished = (instrument, _) =>
        {
            if (instrument.Meter.Name == "Tidepool")
            {
                lock (published)
                {
                    published.Add($"{instrument.Name} {instrument.Unit} {KindOf(instrument)}");
                }
            }
        };
        listener.Start();
        NewPool<byte>().Rent(1).Return();
        await new ResourcePool<FakeResource>(new FakePolicy(), new() { MaxSize = 1 }).DisposeAsync();
        await new ResourcePool<FakeResource>(new FakePolicy(), new() { MaxSize = 1, MeterNames = MeterNames.Connections }).DisposeAsync();

        SortedSet<string> listed =
            [.. Row().Matches(File.ReadAllText(Page())).Select(m => $"{m.Groups[1]} {m.Groups[2]} {m.Groups[3].Value.Trim()}")];
        Assert.Equal(published, listed);
    }

    private static string KindOf(Instrument instrument)
    {
        string type = instrument.GetType().Name;
        return type.Contains("UpDown", StringComparison.Ordinal) ? "up-down counter"
            : type.Contains("Histogram", StringComparison.Ordinal) ? "histogram"
            : "counter";
    }

    private static string Page()
    {
        DirectoryInfo? folder = new(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "Tidepool.slnx")))
        {
            folder = folder.Parent;
        }

        return Path.Combine(folder!.FullName, "docs", "signals.md");
    }

    [GeneratedRegex(@"^\| `([a-z_.]+)` \| `([^`]+)` \| ([^|]+)\|", RegexOptions.Multiline)]
    private static partial Regex Row();
}
