namespace Tidepool.Advice.Tests.Natives;

public sealed class WindowEndTests
{
    private const int Command = 10;

    private static readonly WindowEnd End = new(1000, Command, new HashSet<int> { 11 }, ExitCode: 0);

    [Theory]
    [InlineData(Command, 1000)]
    [InlineData(11, 1000)]
    [InlineData(12, 301)] // it had ended
    public void The_window_of_a_process_that_ended_before_the_command_ends_behind_its_last_record(int process, long expected) =>
        Assert.Equal(expected, End.EndOf(Log(process, Block(100, 300), Block(200, null))));

    [Fact]
    public void A_window_never_ends_behind_that_of_the_command() => Assert.Equal(1000, End.EndOf(Log(12, Block(100, 5000))));

    [Fact]
    public void Without_a_record_it_ends_where_it_began() => Assert.Equal(51, End.EndOf(Log(12)));

    private static SampleLog Log(int process, params LoggedBlock[] blocks) => new()
    {
        Process = process,
        Start = 50,
        MeanBytes = 1,
        Blocks = blocks,
        Stacks = new Dictionary<int, ulong[]>(),
        Modules = [],
        Classes = [],
    };

    private static LoggedBlock Block(long time, long? free) => new() { Stack = 0, Size = 1, Time = time, Thread = 1, FreeTime = free };
}
