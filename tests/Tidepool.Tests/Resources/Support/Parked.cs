using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources.Support;

/// <summary>A thread of its own that rents, and parks for it.</summary>
internal sealed class Parked
{
    private readonly Thread _thread;
    private Exception? _failure;

    internal Parked(Action use)
    {
        _thread = new Thread(() => _failure = Record.Exception(use)) { IsBackground = true };
        _thread.Start();
    }

    internal int Id => _thread.ManagedThreadId;

    internal bool IsAlive => _thread.IsAlive;

    internal void Interrupt() => _thread.Interrupt();

    internal void End()
    {
        Assert.True(_thread.Join(Eventually.Limit), "the parked thread never ends");
        Assert.Null(_failure);
    }
}
