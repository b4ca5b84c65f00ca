namespace Tidepool.Advice.Tests.Natives;

public sealed class NativeSitesTests
{
    private const long Second = 1_000_000_000;

    [Fact]
    public void The_site_is_the_function_that_a_frame_was_inlined_into()
    {
        AddressNames names = MadeUpNative.Names(
            (1,
            [
                ("__gnu_cxx::new_allocator<int>::allocate(unsigned long)", "/usr/include/new.h:1"),
                ("std::vector<int>::push_back(int const&)", "/usr/include/vector.h:2"),
                ("demo::collect(int)", "/src/collect.cpp:30"),
                ("demo::run()", "/src/run.cpp:9"),
            ]));
        AllocationSample sample = SampleOf(MadeUpNative.Recording(One(stack: 1)), names);
        Assert.Equal(new StackPlace("server", "demo::collect", "/src/collect.cpp", 30), Assert.Single(sample.Stack));
        Assert.Equal("std::vector", sample.Type);
    }

    [Fact]
    public void A_stripped_program_has_places_in_its_file()
    {
        AllocationSample sample = SampleOf(MadeUpNative.Recording(One(stack: 1)), MadeUpNative.Names((1, [("??", "??:0")])));
        Assert.Equal(new StackPlace("server", "server+0x100", "", 0), Assert.Single(sample.Stack));
        Assert.Equal(NativeFrame.Block, sample.Type);
    }

    [Fact]
    public void A_program_that_nothing_names_has_them_too()
    {
        AllocationSample sample = SampleOf(MadeUpNative.Recording(One(stack: 2)), MadeUpNative.Names());
        Assert.Equal("server+0x200", Assert.Single(sample.Stack).Method);
    }

    [Fact]
    public void An_address_of_no_module_is_the_site_itself()
    {
        NativeRecording recording = MadeUpNative.Recording(One(stack: 1));
        recording = recording with { Log = recording.Log with { Modules = [] } };
        AllocationSample sample = SampleOf(recording, MadeUpNative.Names((1, [("demo::collect()", "/src/collect.cpp:30")])));
        Assert.Equal("0x1101", Assert.Single(sample.Stack).Method);
    }

    [Fact]
    public void A_stack_of_library_frames_only_is_named_by_its_module()
    {
        AddressNames names = MadeUpNative.Names((1, [("operator new(unsigned long)", "??:?")]));
        AllocationSample sample = SampleOf(MadeUpNative.Recording(One(stack: 1)), names);
        Assert.Equal("(server)", Assert.Single(sample.Stack).Method);
    }

    [Theory]
    [InlineData(0)] // a record without its stack
    [InlineData(9)] // one whose stack is not in the log
    public void A_block_without_a_stack_is_a_site_of_its_own(int stack)
    {
        NativeRecording recording = MadeUpNative.Recording(One(stack));
        recording = recording with { Log = recording.Log with { Stacks = new Dictionary<int, ulong[]>() } };
        Assert.Equal("(unknown)", Assert.Single(SampleOf(recording, MadeUpNative.Names()).Stack).Method);
    }

    [Fact]
    public void Samples_are_in_the_slice_of_their_time_and_none_is_behind_the_end()
    {
        NativeRecording recording = MadeUpNative.Recording(MadeUpNative.Blocks(1, 100, static _ => 0, static _ => null));
        LoggedBlock late = recording.Log.Blocks[0] with { Time = recording.End };
        recording = recording with { Log = recording.Log with { Blocks = [.. recording.Log.Blocks, late] } };
        IReadOnlyList<SampleSlice> slices = NativeSites.SlicesOf(recording, MadeUpNative.Names());
        Assert.Equal([20, 20, 20, 20, 20], slices.Select(static slice => slice.Samples.Count));
        Assert.Equal(MadeUpNative.Seconds, slices.Sum(static slice => slice.Seconds), 9);
        Assert.All(slices.SelectMany(static slice => slice.Samples), static sample => Assert.Equal(1, sample.Size)); // malloc(0) is a block
    }

    [Theory]
    [InlineData(0, 0.5, nameof(Fate.DiedYoung))]
    [InlineData(8.9, 1.0, nameof(Fate.DiedYoung))]
    [InlineData(9.5, 0.1, nameof(Fate.Unseen))] // one that lives longer would not be seen to be freed
    [InlineData(9.5, null, nameof(Fate.Unseen))]
    [InlineData(0, 3.0, nameof(Fate.DiedLater))]
    [InlineData(4, 3.0, nameof(Fate.DiedLater))]
    [InlineData(6, 3.0, nameof(Fate.Undecided))] // kept ones of that age are not known as such yet
    [InlineData(6, null, nameof(Fate.Undecided))]
    [InlineData(0, 7.0, nameof(Fate.Kept))]
    [InlineData(4, null, nameof(Fate.Kept))]
    [InlineData(4, 50.0, nameof(Fate.Kept))] // freed behind the end of the window
    public void A_fate_is_only_told_of_blocks_that_could_have_had_the_other(double since, double? lives, string fate)
    {
        long time = (long)(since * Second);
        var block = new LoggedBlock
        {
            Stack = 1,
            Size = 8,
            Time = time,
            Thread = 1,
            IsFollowed = true,
            FreeTime = lives is { } seconds ? time + (long)(seconds * Second) : null,
        };
        Assert.Equal(fate, NativeSites.LifetimeOf(block, since, 10 * Second, 10)!.Value.Fate.ToString());
        Assert.Null(NativeSites.LifetimeOf(block with { IsFollowed = false }, since, 10 * Second, 10));
    }

    private static IEnumerable<LoggedBlock> One(int stack) => MadeUpNative.Blocks(stack, 1, static _ => 100, static _ => 0.1);

    private static AllocationSample SampleOf(NativeRecording recording, AddressNames names) =>
        Assert.Single(NativeSites.SlicesOf(recording, names).SelectMany(static slice => slice.Samples));
}
