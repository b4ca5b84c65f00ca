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
        Assert.Equal(expected, EndOf(Log(process, Block(100, 300), Block(200, null))));

    [Fact]
    public void A_window_never_ends_behind_that_of_the_command() => Assert.Equal(1000, EndOf(Log(12, Block(100, 5000))));

    [Fact]
    public void Without_a_record_it_ends_where_it_began() => Assert.Equal(51, EndOf(Log(12)));

    [Fact]
    public void The_window_of_a_program_that_executed_another_ends_behind_its_last_record()
    {
        SampleLog first = Log(Command, Block(100, 300));
        SampleLog second = Log(Command, Block(600, null)) with { Start = 500 };
        Assert.Equal(301, End.EndOf(first, [first, second]));
        Assert.Equal(1000, End.EndOf(second, [first, second]));
    }

    [Fact]
    public void Two_sandboxes_may_have_one_number()
    {
        SampleLog first = Log(Command, Block(100, 300));
        SampleLog second = Log(Command, Block(200, null)) with { Start = 150 };
        Assert.Equal(1000, End.EndOf(first, [first, second]));
    }

    [Fact]
    public void A_program_that_another_executed_is_no_other_process()
    {
        SampleLog shell = Log(Command, Block(60, 70));
        SampleLog program = Log(Command, Block(200, null), Block(300, null)) with { Start = 100 };
        SampleLog child = Log(11, Block(250, null));
        NativeRecording recording = NativeRecording.Of([shell, program, child], End)!;
        Assert.Same(program, recording.Log);
        Assert.Equal((1000L, 1, (int?)0), (recording.End, recording.OtherProcesses, recording.ExitCode));
        Assert.Null(NativeRecording.Of([], End));
    }

    private static long EndOf(SampleLog log) => End.EndOf(log, [log]);

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
