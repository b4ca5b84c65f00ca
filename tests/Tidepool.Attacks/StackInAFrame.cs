namespace Tidepool.Attacks;

/// <summary>A thread has its stack in a live frame of another one.</summary>
internal sealed unsafe class StackInAFrame : ForeignStacks
{
    public override string Name => "stack-in-a-frame";

    public override string Promise => "A thread with a magazine of its own is not taken for the one in whose stack its stack lies.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        Begin();
        var deadline = new Deadline(time);
        var outer = new Thread(() => Nest(deadline), 16 << 20);
        outer.Start();
        outer.Join();
        End();
    }

    /// <summary>Rents from a pool that no other thread has used, so that the tiers make the thread known.</summary>
    private static void AskForAMagazine()
    {
        using var pool = BufferPool<long>.Create();
        pool.Rent(16).Return();
    }

    private void Nest(Deadline deadline)
    {
        Rent(2, new Deadline(TimeSpan.FromMilliseconds(10))); // the outer thread is known before
        byte* room = stackalloc byte[StackBytes + 4096];
        nint other = Start((void*)(((nint)room + 4095) & ~4095), () =>
        {
            AskForAMagazine(); // one that does not is a documented gap
            Rent(1, deadline);
        });
        Rent(2, deadline);
        Join(other);
    }
}
