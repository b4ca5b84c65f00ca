using Tidepool.Tests.Common;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Tiers;

/// <summary>Threads are told apart by their stacks; stacks that lie where none is expected must not make two threads one.</summary>
[Trait("Category", "Environment")]
public sealed class OddStackTests(ITestOutputHelper output)
{
    private const string OnWindows = "Windows lets a program choose no stacks and has no destructors of thread-specific data";

    [UnlimitedStackFact]
    public void Without_a_stack_limit_a_thread_on_heap_memory_is_not_the_main_thread()
    {
        (int code, string printed, string error) = Child.Run(Child.Unlimited, checks: null, withoutStackLimit: true);
        output.WriteLine(printed);
        Assert.True(code == 0, printed + error);
        Assert.Contains("taken for main: False", printed, StringComparison.Ordinal);
        Assert.Contains("main is known: True", printed, StringComparison.Ordinal);
    }

    [PosixTheory]
    [InlineData("stack", 2)]
    [InlineData("thread", 3)]
    public void A_thread_whose_stack_lies_in_a_frame_of_another_one_is_not_that_thread(string identity, int orders)
    {
        (int code, string printed, string error) = Child.Run(Child.Nested, checks: null, identity);
        Assert.True(code == 0, printed + error);
        Assert.True(orders == printed.Split(": fine").Length - 1, printed);
    }

    [PosixFact]
    public void A_destructor_that_rents_on_an_ending_thread_leaves_no_identity_behind()
    {
        (int code, string printed, string error) = Child.Run(Child.Destructors, checks: null);
        Assert.True(code == 0, printed + error);
        Assert.Contains("calls: 400; identities left: 0", printed, StringComparison.Ordinal);
    }

    private sealed class PosixFactAttribute : FactAttribute
    {
        public PosixFactAttribute() => Skip = OperatingSystem.IsWindows() ? OnWindows : null;
    }

    private sealed class PosixTheoryAttribute : TheoryAttribute
    {
        public PosixTheoryAttribute() => Skip = OperatingSystem.IsWindows() ? OnWindows : null;
    }
}
