namespace Tidepool;

/// <content>Changes in several steps, and disposals that meet one.</content>
/// <remarks>
/// <para>A call that does more than move within the window is a change: it counts itself, and then looks again whether its stream
/// (<see cref="PooledMemoryStream"/>) still has the core. A disposal takes the core from the stream, and then looks whether changes are
/// under way. Both go through a full fence in between, so one of the two sees the other: either the change is refused, or the disposal
/// leaves the core to the changes and the last of them releases it. No list of segments is ever changed while it is released or while
/// the core rests, however long a thread is held up.</para>
/// <para>One word holds the number of changes, <see cref="Left"/> when a disposal has left the core to them, and <see cref="Tangled"/>
/// once two were under way at a time. A change that is about to be refused is counted too, on a core that may serve another stream by
/// then: if that stream is disposed in the meantime, the refused change releases it.</para>
/// </remarks>
internal sealed partial class StreamCore
{
    private const int Left = int.MinValue;
    private const int Tangled = 1 << 30; // misuse, after which neither the window nor any node can be trusted

    private int _changes;

    private bool IsTangled => (_changes & Tangled) != 0;

    /// <summary>Counts a change. The caller then looks whether its stream still has the core.</summary>
    internal void BeginChange()
    {
        if (Interlocked.Increment(ref _changes) != 1)
        {
            Interlocked.Or(ref _changes, Tangled);
        }
    }

    /// <summary>Ends a change, and releases the core if it is the last and a disposal has left the core to it.</summary>
    internal void EndChange()
    {
        int seen = Volatile.Read(ref _changes);
        while (true)
        {
            bool isLast = (seen & ~Tangled) == Left + 1;
            int now = Interlocked.CompareExchange(ref _changes, isLast ? seen & Tangled : seen - 1, seen);
            if (now != seen)
            {
                seen = now;
                continue;
            }

            if (isLast)
            {
                Retire();
            }

            return;
        }
    }

    /// <summary>Releases the core of a disposed stream, or leaves that to the changes under way.</summary>
    internal void RetireAfterChanges()
    {
        int seen = Volatile.Read(ref _changes);
        while ((seen & ~Tangled) != 0)
        {
            int now = Interlocked.CompareExchange(ref _changes, seen | Left, seen);
            if (now == seen)
            {
                return;
            }

            seen = now;
        }

        Retire();
    }

    private void Retire()
    {
        try
        {
            ReleaseAll();
        }
        finally
        {
            Rest();
            StreamPool.Instance.Return(this);
        }
    }
}

/// <summary>A change of a stream's core that is under way; disposing it ends the change.</summary>
/// <seealso cref="StreamCore.BeginChange"/>
internal readonly ref struct StreamChange(StreamCore core) : IDisposable
{
    public void Dispose() => core.EndChange();
}
