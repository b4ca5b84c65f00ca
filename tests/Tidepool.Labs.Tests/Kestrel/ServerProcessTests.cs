namespace Tidepool.Labs.Tests.Kestrel;

/// <summary>The servers of lab <c>kestrel</c>, real ones with a real client. Nothing here depends on how fast the machine is.</summary>
public sealed class ServerProcessTests
{
    public static TheoryData<string, string> Rows
    {
        get
        {
            var rows = new TheoryData<string, string>();
            foreach (string memory in Enum.GetNames<KestrelMemory>())
            {
                foreach (string protocol in Enum.GetNames<KestrelProtocol>())
                {
                    rows.Add(memory, protocol);
                }
            }

            return rows;
        }
    }

    [LoadTheory]
    [MemberData(nameof(Rows))]
    public void A_server_answers_all_requests_from_the_memory_that_it_is_said_to_have(string memory, string protocol)
    {
        using ServerProcess server = LoadServers.Start(memory);
        KestrelProtocol spoken = Enum.Parse<KestrelProtocol>(protocol);

        LoadResult result = LoadServers.Client.Run(server.Ports.AddressOf(spoken), 100, spoken.LoadArguments());

        Assert.Equal((100, 100), (result.Total, result.Good));
        Assert.Equal(memory == nameof(KestrelMemory.Tidepool), server.Ask().Pool.StartsWith("SlabMemoryPool", StringComparison.Ordinal));
    }

    [LoadTheory]
    [MemberData(nameof(Rows))]
    public void A_round_counts_what_the_server_allocated(string memory, string protocol)
    {
        using ServerProcess server = LoadServers.Start(memory);
        KestrelProtocol spoken = Enum.Parse<KestrelProtocol>(protocol);
        using var loop = new RequestLoop(server, LoadServers.Client, Enum.Parse<KestrelMemory>(memory), spoken);

        Sample sample = loop.Measure(200);

        Assert.InRange(sample.Nanoseconds, 1, 1e9);
        Assert.InRange(sample.Bytes, 1, 1 << 20); // its connections are part of it
    }

    [LoadFact]
    public void A_row_whose_server_rents_elsewhere_is_refused()
    {
        using ServerProcess server = LoadServers.Start(nameof(KestrelMemory.Own));
        using var loop = new RequestLoop(server, LoadServers.Client, KestrelMemory.Tidepool, KestrelProtocol.Http1);

        Assert.Contains("The server rents from", Assert.Throws<LabProcessException>(() => loop.Run(1)).Message, StringComparison.Ordinal);
    }

    [LoadFact]
    public void A_server_collects_when_it_is_told_to()
    {
        using ServerProcess server = LoadServers.Start(nameof(KestrelMemory.Own));
        int before = server.Ask().Collections[2];

        Assert.True(server.Collect().Collections[2] > before);
    }

    [LoadFact]
    public void A_program_that_is_no_server_is_refused_with_what_it_said()
    {
        var failure = Assert.Throws<LabProcessException>(
            () => LoadServers.Start(new ChildCommand("echo", ["no server"]), nameof(KestrelMemory.Own)));

        Assert.Contains("no server", failure.Message, StringComparison.Ordinal);
    }
}
