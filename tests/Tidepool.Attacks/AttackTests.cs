namespace Tidepool.Attacks;

/// <summary>Each attack for a short time, in a process of its own. <c>./tidepool soak</c> runs them for as long as one likes.</summary>
public sealed class AttackTests
{
    public static TheoryData<string, int> Attacks
    {
        get
        {
            var data = new TheoryData<string, int>();
            foreach (string name in Attack.All.Keys)
            {
                data.Add(name, 2);
            }

            data.Add(Attack.All.Keys.First(), 64);
            return data;
        }
    }

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
