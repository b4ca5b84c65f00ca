namespace Tidepool.Attacks;

/// <summary>Each attack for a short time, in a process of its own. <c>./tidepool soak</c> runs them for as long as one likes.</summary>
[Trait("Category", "Slow")]
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

    [Theory]
    [MemberData(nameof(Attacks))]
    public void The_promise_holds(string name, int threads)
    {
        var said = new List<string>();
        int code = Program.RunInAChild(Attack.All[name], 3, threads, said.Add);
        Assert.True(code == 0, string.Join('\n', said));
    }
}
