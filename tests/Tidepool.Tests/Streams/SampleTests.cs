using Samples;

namespace Tidepool.Tests.Streams;

/// <summary>The sample of the docs, compiled into this assembly and run.</summary>
public sealed class SampleTests
{
    [Fact]
    public async Task The_program_that_replaced_MemoryStream_does_what_it_did()
    {
        await using var console = new StringWriter { NewLine = "\n" };
        await ReplaceMemoryStream.RunAsync(console);
        Assert.Equal(
            """
            text: rent, use, return
            json: 7 from 19 bytes
            gzip: 1000000 zeros again
            http: 21 bytes announced, 21 sent
            zip: b.txt 5
            document: written into pooled memory

            """,
            console.ToString());
    }

    [Fact]
    public void The_program_that_leaves_RecyclableMemoryStream_does_what_it_did()
    {
        using var console = new StringWriter { NewLine = "\n" };
        FromRecyclableMemoryStream.Run(console);
        Assert.Equal(
            """
            old: 7 bytes
            new: 7 bytes
            old: 100000 bytes within a limit
            new: 100000 bytes within a budget

            """,
            console.ToString());
    }
}
