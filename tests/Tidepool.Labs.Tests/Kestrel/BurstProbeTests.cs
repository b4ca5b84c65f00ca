using System.Globalization;

namespace Tidepool.Labs.Tests.Kestrel;

/// <summary>What lab <c>kestrel</c> counts of a burst, on real servers.</summary>
public sealed class BurstProbeTests
{
    private const double Bodies = (double)BurstProbe.Clients * BurstProbe.BodyBytes;

    [LoadTheory]
    [InlineData(nameof(KestrelMemory.Own))]
    [InlineData(nameof(KestrelMemory.Tidepool))]
    public void At_the_peak_the_pool_has_all_bodies_and_at_the_end_nothing_is_leased(string memory)
    {
        using ServerProcess server = LoadServers.Start(memory, watches: true);
        bool isQuiet = false;

        var found = BurstProbe.Run(server, LoadServers.Client, TimeSpan.Zero, new ProbeSite(() => isQuiet = true));

        Assert.True(isQuiet);
        Assert.InRange(found[BurstProbe.PeakBytes], Bodies, Bodies * 1.2);
        Assert.InRange(found["RSS at the peak_B"] - found["RSS at the start_B"], Bodies / 2, Bodies * 4);
        Assert.Equal(100 * found["pool after 0 s_B"] / found[BurstProbe.PeakBytes], found[BurstProbe.Kept], 9);
        Assert.Equal(0, found[BurstProbe.Failed]);
        Assert.Equal(0, found[BurstProbe.Leased]);
    }

    [LoadFact]
    public void Without_a_wait_nothing_is_said_of_later()
    {
        using ServerProcess server = LoadServers.Start(nameof(KestrelMemory.Tidepool), watches: true);

        var found = BurstProbe.Run(server, LoadServers.Client, wait: null, new ProbeSite(() => Assert.Fail("It does not wait.")));

        Assert.DoesNotContain(found, metric => metric.Key == BurstProbe.Kept || metric.Key.Contains("after", StringComparison.Ordinal));
    }

    /// <summary>What the two servers count must be the same thing: blocks that are leased now.</summary>
    [LoadTheory]
    [InlineData(nameof(KestrelMemory.Own))]
    [InlineData(nameof(KestrelMemory.Tidepool))]
    public void Blocks_are_leased_while_requests_are_held_and_idle_after(string memory)
    {
        const int clients = 3;
        using ServerProcess server = LoadServers.Start(memory, watches: true);
        string body = Path.GetTempFileName();
        try
        {
            File.WriteAllBytes(body, new byte[BurstProbe.BodyBytes]);
            Uri address = server.Ports.AddressOf(KestrelProtocol.Http1, ServerProgram.HoldPath);
            var load = LoadServers.Client.Start(
                address, clients, ["--h1", "-c", clients.ToString(CultureInfo.InvariantCulture), "-d", body]);

            Assert.True(SpinWait.SpinUntil(
                () => server.Ask() is { Held: clients } state && state.LeasedBytes >= clients * BurstProbe.BodyBytes,
                TimeSpan.FromMinutes(1)));
            server.Release();

            Assert.Equal(0, load.Finish().Failed);
            Assert.True(SpinWait.SpinUntil(
                () => server.Ask() is { Held: 0, LeasedBytes: 0 } state && state.IdleBytes >= clients * BurstProbe.BodyBytes,
                TimeSpan.FromMinutes(1)));
        }
        finally
        {
            File.Delete(body);
        }
    }
}
