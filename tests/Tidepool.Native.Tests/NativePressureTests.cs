using System.Globalization;
using System.Text.RegularExpressions;
using Tidepool.Native.Tests.Support;

namespace Tidepool.Native.Tests;

/// <summary>The garbage collector knows of native memory by the megabyte, and never hears of a lease.</summary>
public sealed partial class NativePressureTests : PoolTest
{
    [Fact]
    public void A_hundred_thousand_rentals_tell_the_collector_nothing()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = NativeSource<byte>.Instance });
        foreach (int length in (int[])[100, 4000, 100_000])
        {
            pool.Rent(length).Return();
        }

        (long calls, long live) = (NativePressure.Calls, NativePressure.Live);
        for (int i = 0; i < 100_000; i++)
        {
            pool.Rent(100 + (i % 2 * 3900)).Return();
            pool.Rent(100_000).Return();
        }

        Assert.Equal(calls, NativePressure.Calls);
        Assert.Equal(live, NativePressure.Live);
    }

    [Fact]
    public void Slabs_are_told_by_the_megabyte_and_taken_back()
    {
        long before = NativePressure.Live;
        long calls = NativePressure.Calls;
        BufferPool<byte> pool = NewPool<byte>(new() { Source = NativeSource<byte>.Instance });
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 64_000).Select(_ => pool.Rent(1000))]; // 1024 bytes each
        Assert.InRange(NativePressure.Live - before, 64_000_000, 66_000_000);
        Assert.InRange(NativePressure.Reported, NativePressure.Live, NativePressure.Live + NativePressure.Step);
        Assert.InRange(NativePressure.Calls - calls, 1, 65);
        Array.ForEach(leases, l => l.Return());
        pool.Trim();
        Assert.Equal(before, NativePressure.Live);
        Assert.InRange(NativePressure.Reported, before, before + (3 * NativePressure.Step));
        Assert.InRange(NativePressure.Calls - calls, 2, 130);
    }

    [Fact]
    public void A_large_block_is_told_at_once()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = NativeSource<byte>.Instance });
        long reported = NativePressure.Reported;
        BufferLease<byte> lease = pool.Rent(100 << 20);
        Assert.InRange(NativePressure.Reported - reported, 98 << 20, 110 << 20);
        lease.Return();
        pool.Trim();
        Assert.InRange(NativePressure.Reported, 0, reported + (2 * NativePressure.Step));
    }

    [Fact]
    [Trait("Category", "Environment")]
    public void Two_leaked_gigabytes_are_collected_without_anybody_asking()
    {
        (int code, string output, string error) = Child.Run(Scenarios.LeakWithoutCollecting);
        Assert.True(code == 0, error);
        long peak = long.Parse(Peak().Match(output).Groups[1].Value, CultureInfo.InvariantCulture);
        Assert.InRange(peak, 1 << 20, (long)Scenarios.LeakedBuffers * (1 << 20) / 2);
    }

    [GeneratedRegex(@"peak: (\d+)")]
    private static partial Regex Peak();
}
