namespace Tidepool.Advice.Tests.Natives;

public sealed class AddressNamesTests
{
    private static readonly LoggedModule Module = new("/opt/server", 0, 0, 1000);

    [Fact]
    public void An_answer_is_read_with_what_was_inlined()
    {
        var (offset, places) = Assert.Single(
            AddressNames.Parse(Module, new StringReader("0x0010\nmake()\n/src/a.cpp:5 (discriminator 3)\nmain\n??:0\n")));
        Assert.Equal(0x10UL, offset);
        Assert.Equal([("/src/a.cpp", 5), ("", 0)], places.Select(static place => (place.File, place.Line)));
    }

    [Theory]
    [InlineData("", 0)]
    [InlineData("addr2line: out of memory\n", 0)]
    [InlineData("0x\nmain\n", 0)]
    [InlineData("0x10\nmain\n/src/a.cpp:5\n0xyz\nmain\n", 1)]
    [InlineData("0x10\nmain", 1)]
    public void An_answer_that_breaks_off_is_read_to_there(string answer, int expected) =>
        Assert.Equal(expected, AddressNames.Parse(Module, new StringReader(answer)).Count());

    [Fact]
    public async Task What_is_not_waited_for_has_no_name()
    {
        string file = typeof(AddressNamesTests).Assembly.Location;
        var log = new SampleLog
        {
            Process = 1,
            Start = 0,
            MeanBytes = 1,
            Blocks = [],
            Stacks = new Dictionary<int, ulong[]>(),
            Modules = [new LoggedModule(file, 0, 0, 1000)],
            Classes = [],
        };
        using var stop = new CancellationTokenSource();
        await stop.CancelAsync();
        AddressNames names = await AddressNames.ReadAsync(log, [0x10], stop.Token);
        Assert.Equal($"{Path.GetFileName(file)}+0xf", Assert.Single(names.PlacesOf(log, 0x10)).Method);
    }
}
