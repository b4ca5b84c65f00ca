using System.Globalization;
using System.Text.RegularExpressions;
using Tidepool.Native.Tests.Support;

namespace Tidepool.Native.Tests;

/// <summary>The library's settings and numbers.</summary>
public sealed partial class TidepoolNativeTests
{
    [Fact]
    public void The_library_says_what_it_is()
    {
        Assert.True(TidepoolNative.IsAvailable);
        Assert.True(File.Exists(TidepoolNative.LibraryPath));
        Assert.Equal(new Version(0, 1, 0), TidepoolNative.Version);
        Assert.False(TidepoolNative.IsChecked);
    }

    [Fact]
    public void Statistics_follow_what_is_rented()
    {
        using var pool = BufferPool<byte>.Create(new() { Source = NativeSource<byte>.Instance });
        NativeStatistics before = TidepoolNative.GetStatistics();
        using BufferLease<byte> lease = pool.Rent(10_000_000);
        lease.Span.Fill(1);
        NativeStatistics during = TidepoolNative.GetStatistics();
        Assert.InRange(during.LiveBytes - before.LiveBytes, 10_000_000, 14_000_000);
        Assert.True(during.CommittedBytes >= during.LiveBytes);
        Assert.True(during.PeakCommittedBytes >= during.CommittedBytes);
        Assert.True(during.ReservedBytes >= during.CommittedBytes);
        Assert.True(during.MetadataBytes > 0);
        Assert.True(during.SystemCalls > 0);
        Assert.True(during.Threads > 0);
    }

    [Fact]
    public void Purge_settings_are_kept()
    {
        TimeSpan? delay = TidepoolNative.PurgeDelay;
        bool background = TidepoolNative.BackgroundPurge;
        try
        {
            Assert.Equal(TimeSpan.FromSeconds(1), delay);
            Assert.True(background);
            TidepoolNative.PurgeDelay = TimeSpan.FromMilliseconds(250);
            Assert.Equal(TimeSpan.FromMilliseconds(250), TidepoolNative.PurgeDelay);
            TidepoolNative.PurgeDelay = null;
            Assert.Null(TidepoolNative.PurgeDelay);
            TidepoolNative.BackgroundPurge = false;
            Assert.False(TidepoolNative.BackgroundPurge);
        }
        finally
        {
            TidepoolNative.PurgeDelay = delay;
            TidepoolNative.BackgroundPurge = background;
        }

        Assert.Throws<ArgumentOutOfRangeException>(() => TidepoolNative.PurgeDelay = TimeSpan.FromSeconds(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => TidepoolNative.PurgeDelay = TimeSpan.FromDays(100));
        Assert.Throws<ArgumentOutOfRangeException>(() => TidepoolNative.Trim(TimeSpan.FromSeconds(-1)));
        Assert.Throws<ArgumentOutOfRangeException>(() => TidepoolNative.Budget = 0);
        Assert.Null(TidepoolNative.Budget);
    }

    [Fact]
    [Trait("Category", "Environment")]
    public void A_used_up_budget_refuses_and_names_itself_and_a_return_or_a_trim_makes_room()
    {
        (int code, string output, string error) = Child.Run(Scenarios.UseUpTheBudget);
        Assert.True(code == 0, error);
        Assert.Contains("budget at first: none", output, StringComparison.Ordinal);
        Assert.Contains(
            "refused: InsufficientMemoryException There is no native memory for 1,048,576 bytes",
            output,
            StringComparison.Ordinal);
        Assert.Contains("TidepoolNative.Budget is 67,108,864 bytes", output, StringComparison.Ordinal);
        int rented = int.Parse(Rented().Match(output).Groups[1].Value, CultureInfo.InvariantCulture);
        Assert.InRange(rented, 40, 64);
        Assert.Contains($"counted: {rented}", output, StringComparison.Ordinal);
        Assert.Contains("after a return: 1048576", output, StringComparison.Ordinal);
        Assert.Contains("after a trim: 33554432", output, StringComparison.Ordinal);
    }

    [Fact]
    [Trait("Category", "Environment")]
    public void Slabs_are_refused_too_and_nothing_is_lost()
    {
        (int code, string output, string error) = Child.Run(Scenarios.UseUpTheBudgetWithSmallBuffers);
        Assert.True(code == 0, error);
        int[] refused = [.. Refused().Matches(output).Select(m => int.Parse(m.Groups[1].Value, CultureInfo.InvariantCulture))];
        Assert.Equal(3, refused.Length);
        Assert.All(refused, r => Assert.InRange(r, 5_000, 8_192));
        Assert.Equal(3, Regex.Count(output, "slabs: 0\n"));
    }

    [Fact]
    [Trait("Category", "Environment")]
    public void The_environment_sets_a_budget()
    {
        (int code, string output, string error) = Child.Run(Scenarios.UseUpTheBudget, null, ("TIDEPOOL_MEMORY_LIMIT", "512M"));
        Assert.True(code == 0, error);
        Assert.Contains("budget at first: 536870912", output, StringComparison.Ordinal);
    }

    [GeneratedRegex(@"rented: (\d+)")]
    private static partial Regex Rented();

    [GeneratedRegex(@"refused after: (\d+)")]
    private static partial Regex Refused();
}
