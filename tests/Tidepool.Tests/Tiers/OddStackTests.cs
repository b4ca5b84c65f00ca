using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Tiers;

/// <summary>Threads are told apart by their stacks; stacks that lie where none is expected must not make two threads one.</summary>
[Trait("Category", "Environment")]
public sealed class OddStackTests(ITestOutputHelper output)
{
    private const int LimitIsFixed = 77; // the shell's exit code when it may not lift the limit

    [Fact]
    public void Without_a_stack_limit_a_thread_on_heap_memory_is_not_the_main_thread()
    {
        if (!OperatingSystem.IsLinux())
        {
            return; // the range of a main thread is another question elsewhere
        }

        (int code, string printed, string error) = Child.Run(Child.Unlimited, checks: null, withoutStackLimit: true);
        output.WriteLine(printed);
        if (code != LimitIsFixed)
        {
            Assert.True(code == 0, printed + error);
            Assert.Contains("taken for main: False", printed, StringComparison.Ordinal);
            Assert.Contains("main is known: True", printed, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("stack", 2)]
    [InlineData("thread", 3)]
    public void A_thread_whose_stack_lies_in_a_frame_of_another_one_is_not_that_thread(string identity, int orders)
    {
        if (OperatingSystem.IsWindows())
        {
            return; // stacks cannot be chosen there
        }

        (int code, string printed, string error) = Child.Run(Child.Nested, checks: null, identity);
        Assert.True(code == 0, printed + error);
        Assert.True(orders == printed.Split(": fine").Length - 1, printed);
    }

    [Fact]
    public void A_destructor_that_rents_on_an_ending_thread_leaves_no_identity_behind()
    {
        if (OperatingSystem.IsWindows())
        {
            return; // there is no such destructor
        }

        (int code, string printed, string error) = Child.Run(Child.Destructors, checks: null);
        Assert.True(code == 0, printed + error);
        Assert.Contains("calls: 400; identities left: 0", printed, StringComparison.Ordinal);
    }
}
