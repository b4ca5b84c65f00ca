using Tidepool.Tests.Common;

namespace Tidepool.Attacks;

/// <summary>Each attack for a short time, in a process of its own. <c>./tidepool soak</c> runs them for as long as one likes.</summary>
public sealed class AttackTests
{
    public static TheoryData<string, int> Attacks
    {
        get
        {
            TheoryData<string, int> data = Needing(null);
            data.Add(Attack.All.Keys.First(), 64);
            return data;
        }
    }

    public static TheoryData<string, int> AttacksWithoutStackLimit => Needing(UnlimitedStack.Command);

    [Fact]
    public void A_promise_that_is_broken_fails_the_program()
    {
        Assert.Equal(0, Program.Run(new Fake(breaks: false), 1, 2));
        Assert.Equal(1, Program.Run(new Fake(breaks: true), 1, 2));
    }

    [Theory]
    [InlineData("torn-many", 1)]
    [InlineData("earlier-content", 1)]
    public void The_promise_holds_for_a_moment(string name, int seconds) => Hold(name, seconds, threads: 2);

    [Theory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(Attacks))]
    public void The_promise_holds(string name, int threads) => Hold(name, 3, threads);

    [UnlimitedStackTheory]
    [Trait("Category", "Slow")]
    [MemberData(nameof(AttacksWithoutStackLimit))]
    public void The_promise_holds_without_a_stack_limit(string name, int threads) => Hold(name, 3, threads);

    [Fact]
    public void Every_attack_is_tested_as_it_needs()
    {
        IEnumerable<string> tested = Attacks.Concat(AttacksWithoutStackLimit).Select(static row => (string)row[0]);
        Assert.Equal(Attack.All.Keys.Order(), tested.Distinct().Order());
    }

    [Fact]
    public void An_attack_that_the_shell_refuses_to_start_has_not_held()
    {
        var said = new List<string>();
        Assert.Equal(Program.NotRun, Program.RunInAChild(new Fake(breaks: false) { Needs = "false" }, 1, 2, said.Add));
        Assert.Equal(["fake: not run, this shell refuses: false"], said);
    }

    private static TheoryData<string, int> Needing(string? before)
    {
        var data = new TheoryData<string, int>();
        foreach (Attack attack in Attack.All.Values.Where(attack => attack.Before == before))
        {
            data.Add(attack.Name, 2);
        }

        return data;
    }

    private static void Hold(string name, int seconds, int threads)
    {
        var said = new List<string>();
        int code = Program.RunInAChild(Attack.All[name], seconds, threads, said.Add);
        Assert.True(code == 0, string.Join('\n', said));
    }

    private sealed class Fake(bool breaks) : Attack
    {
        public override string Name => "fake";

        public override string Promise => "Nothing happens.";

        public string? Needs { get; init; }

        public override string? Before => Needs;

        public override void Run(TimeSpan time, int threads, int seed)
        {
            Count(1);
            if (breaks)
            {
                Break("something happened");
            }
        }
    }
}
