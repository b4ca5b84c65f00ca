using System.Collections.Concurrent;
using Tidepool.Models.Pools;

namespace Tidepool.Models.Stress;

/// <summary>Right use: every rental is returned once, often by another thread than the one that rented.</summary>
internal sealed class HandOverStorm(int seed, BufferPoolOptions<int> options, CountingSource<int> source, int queues)
    : Storm(seed, options, source)
{
    private readonly ConcurrentQueue<(BufferLease<int> Lease, int Number)>[] _queues =
        Enumerable.Range(0, queues).Select(static _ => new ConcurrentQueue<(BufferLease<int>, int)>()).ToArray();

    protected override void Live(int place, Random random, int steps)
    {
        var held = new Stack<(BufferLease<int> Lease, int Number)>();
        for (int step = 0; step < steps && !IsOver; step++)
        {
            int choice = random.Next(100);
            if (choice < 45 && held.Count < 40)
            {
                held.Push(Rent(NextLength(random)));
            }
            else if (choice < 75 && held.TryPop(out (BufferLease<int> Lease, int Number) own))
            {
                Release(own.Lease, own.Number);
                own.Lease.Return();
            }
            else if (choice < 88 && held.TryPop(out (BufferLease<int> Lease, int Number) given))
            {
                _queues[random.Next(_queues.Length)].Enqueue(given);
            }
            else
            {
                TakeOver(_queues[place], random.Next(20));
            }
        }

        while (held.TryPop(out (BufferLease<int> Lease, int Number) rest))
        {
            _queues[random.Next(_queues.Length)].Enqueue(rest);
        }
    }

    protected override void Drain() => Array.ForEach(_queues, q => TakeOver(q, int.MaxValue));

    private void TakeOver(ConcurrentQueue<(BufferLease<int> Lease, int Number)> queue, int most)
    {
        while (most-- > 0 && queue.TryDequeue(out (BufferLease<int> Lease, int Number) got))
        {
            Release(got.Lease, got.Number);
            if (most % 8 == 0)
            {
                using var owner = got.Lease.ToOwner();
            }
            else
            {
                got.Lease.Return();
            }
        }
    }
}
