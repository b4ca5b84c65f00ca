namespace Tidepool.Tests.Resources.Support;

/// <summary>What the fake factory makes: it knows how many use it and how often it was destroyed.</summary>
public sealed class FakeResource(int number)
{
    private int _users;
    private int _ends;

    public int Number => number;

    /// <summary>The far end has gone: the policy says so when it is asked.</summary>
    public bool IsDead { get; set; }

    public int Ends => Volatile.Read(ref _ends);

    public int Resets { get; set; }

    public int Validations { get; set; }

    public int KeepAlives { get; set; }

    /// <summary>One user at a time, and only while it lives.</summary>
    public void Enter()
    {
        Assert.True(Interlocked.Increment(ref _users) == 1, $"resource {number} has two users");
        Assert.True(Ends == 0, $"resource {number} is used after its end");
    }

    public void Leave() => Interlocked.Decrement(ref _users);

    public void End() => Assert.True(Interlocked.Increment(ref _ends) == 1, $"resource {number} was destroyed twice");

    public override string ToString() => $"#{number}";
}
