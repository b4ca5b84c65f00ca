using System.Buffers;
using System.Runtime.InteropServices;

namespace Tidepool.Attacks;

/// <summary>
/// Rents in every form from pools that clear, looks for what an earlier renter left in all that can be reached, fills it, and gives it back
/// on this thread or another.
/// </summary>
internal sealed class EarlierContent : Attack
{
    public override string Name => "earlier-content";

    public override string Promise => "A pool that clears never shows a renter what an earlier one wrote.";

    private enum Form
    {
        Lease,
        ClearedLease,
        Scope,
        ArrayPool,
        MemoryPool,
        Owner,
        Count,
    }

    public override void Run(TimeSpan time, int threads, int seed)
    {
        var deadline = new Deadline(time);
        for (int round = 0; !deadline.IsOver; round++)
        {
            var step = new Deadline(TimeSpan.FromMilliseconds(200));
            int next = seed + (round * threads);
            Walk(round, 7L, threads, next, step);
            Walk(round, (byte)7, threads, next, step);
            Walk(round, "secret", threads, next, step);
            Walk(round, new Card("secret", 4242), threads, next, step);
        }
    }

    private void Walk<T>(int round, T secret, int threads, int seed, Deadline step)
    {
        ClearMode mode = round % 3 == 0 ? ClearMode.OnRent : ClearMode.OnReturn;
        using BufferPool<T> pool = BufferPool<T>.Create(new() { Name = Name, Clear = mode, Secrets = round % 3 == 2 });
        Together(threads, seed, (_, random) => Walk(pool, $"{typeof(T).Name}, {mode}", secret, random, step));
        Validate(pool.Validate);
    }

    private void Walk<T>(BufferPool<T> pool, string what, T secret, Random random, Deadline step)
    {
        var arrays = pool.AsArrayPool();
        var owners = new Queue<IMemoryOwner<T>>();
        do
        {
            int length = random.Next(1, 3000);
            var form = (Form)random.Next((int)Form.Count);
            string where = $"{form} of {what}";
            switch (form)
            {
                case Form.Lease or Form.ClearedLease:
                    BufferLease<T> lease = pool.Rent(length, form == Form.ClearedLease);
                    LookAndFill(where, lease.Span, secret);
                    if (random.Next(2) == 0)
                    {
                        lease.Return();
                    }
                    else
                    {
                        OnAnotherThread(lease.Return);
                    }

                    break;
                case Form.Scope:
                    using (ArrayScope<T> scope = pool.RentScope(length))
                    {
                        LookAndFill(where, scope.Array, secret);
                    }

                    break;
                case Form.ArrayPool:
                    T[] array = arrays.Rent(length);
                    LookAndFill(where, array, secret);
                    arrays.Return(array);
                    break;
                case Form.MemoryPool:
                    using (IMemoryOwner<T> rented = pool.AsMemoryPool().Rent(length))
                    {
                        LookAndFill(where, Reachable(rented.Memory), secret);
                    }

                    break;
                default:
                    IMemoryOwner<T> owner = pool.Rent(length).ToOwner();
                    LookAndFill(where, owner.Memory.Span, secret);
                    owners.Enqueue(owner);
                    if (owners.Count > 5)
                    {
                        owners.Dequeue().Dispose();
                    }

                    break;
            }

            Count();
        }
        while (!step.IsOver);

        while (owners.TryDequeue(out IMemoryOwner<T>? left))
        {
            left.Dispose();
        }
    }

    private static Span<T> Reachable<T>(Memory<T> memory) =>
        MemoryMarshal.TryGetArray<T>(memory, out ArraySegment<T> segment) ? segment : memory.Span;

    private static void OnAnotherThread(Action action) => Task.Run(action).GetAwaiter().GetResult();

    private void LookAndFill<T>(string where, Span<T> memory, T secret)
    {
        foreach (T element in memory)
        {
            if (!EqualityComparer<T>.Default.Equals(element, default))
            {
                Break($"{where} shows earlier content");
                break;
            }
        }

        memory.Fill(secret);
    }

    private readonly record struct Card(string Name, long Key);
}
