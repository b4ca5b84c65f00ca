using System.Buffers;
using System.Runtime.InteropServices;

namespace Tidepool.Attacks;

/// <summary>
/// Looks behind each rental: at the whole array of a lease, segment, owner or writer, from pools of all kinds of options.
/// Writers grow, leases are detached, and arrays from elsewhere are returned full of content.
/// </summary>
internal sealed class ContentBehind : Attack
{
    private const int Forms = 11;

    public override string Name => "earlier-content-behind";

    public override string Promise =>
        "A pool that clears never shows what an earlier renter wrote, in no part of an array that a renter can reach.";

    public override void Run(TimeSpan time, int threads, int seed)
    {
        var deadline = new Deadline(time);
        for (int round = 0; !deadline.IsOver; round++)
        {
            var step = new Deadline(TimeSpan.FromMilliseconds(200));
            int next = seed + (round * threads);
            Walk(round, (byte)7, threads, next, step);
            Walk(round, "secret", threads, next, step);
            Walk(round, (7L, "secret"), threads, next, step);
            Walk(round, new Int128(7, 7), threads, next, step);
            Streams(round, threads, next, step);
        }
    }

    private BufferPool<T> Make<T>(int round) => BufferPool<T>.Create(new()
    {
        Name = Name,
        Clear = (round % 3) switch { 0 => ClearMode.OnRent, 1 => ClearMode.OnReturn, _ => ClearMode.Never },
        Secrets = round % 3 == 2,
        Checks = (PoolChecks)((round / 3) % 3),
        Sizes = (round % 4) switch
        {
            0 => SizeClasses.PowersOfTwo,
            1 => SizeClasses.FromLengths(100, 1000, 5000),
            _ => SizeClasses.Default,
        },
        MaxLength = round % 2 == 0 ? 1500 : Array.MaxLength,
        Budget = round % 5 == 0 ? 20_000 : null,
    });

    private void Walk<T>(int round, T secret, int threads, int seed, Deadline step)
    {
        using BufferPool<T> pool = Make<T>(round);
        Together(threads, seed, (_, random) =>
        {
            var renter = new Renter<T>(this, pool, secret, random);
            do
            {
                renter.Rent();
                Count();
            }
            while (!step.IsOver);
        });
        pool.Trim();
    }

    private void Streams(int round, int threads, int seed, Deadline step)
    {
        using BufferPool<byte> pool = Make<byte>(round);
        Together(threads, seed, (_, random) =>
        {
            do
            {
                using var stream = new PooledMemoryStream(pool);
                for (int i = random.Next(4); i >= 0; i--)
                {
                    stream.SetLength(stream.Length + random.Next(3000)); // grows with zeros
                }

                Look("a stream's buffer", stream.GetBuffer());
                stream.GetBuffer().AsSpan().Fill(7);
                if (random.Next(3) == 0)
                {
                    using BufferLease<byte> detached = stream.Detach();
                }

                Count();
            }
            while (!step.IsOver);
        });
    }

    private void Look<T>(string where, ReadOnlySpan<T> memory)
    {
        foreach (T element in memory)
        {
            if (!EqualityComparer<T>.Default.Equals(element, default))
            {
                Break($"{where} ({typeof(T).Name}) shows earlier content");
                break;
            }
        }
    }

    private sealed class Renter<T>(ContentBehind attack, BufferPool<T> pool, T secret, Random random)
    {
        private readonly ArrayPool<T> _arrays = pool.AsArrayPool();

        public void Rent()
        {
            int length = random.Next(1, 3000);
            int form = random.Next(Forms);
            switch (form)
            {
                case < 3:
                    Lease(pool.Rent(length, form == 0), form);
                    break;
                case 3:
                    using (ArrayScope<T> scope = pool.RentScope(length))
                    {
                        LookAndFill("a scope", scope.Array);
                    }

                    break;
                case 4:
                    T[] array = _arrays.Rent(length);
                    LookAndFill("an array", array);
                    _arrays.Return(array, random.Next(2) == 0);
                    break;
                case 5 when pool.Checks != PoolChecks.Full: // full checks refuse it
                    T[] foreign = new T[1 << random.Next(4, 12)];
                    Array.Fill(foreign, secret);
                    _arrays.Return(foreign);
                    break;
                case 6:
                    IMemoryOwner<T> owner = random.Next(2) == 0 ? pool.AsMemoryPool().Rent(length) : pool.Rent(length).ToOwner();
                    LookAndFill("an owner", Whole(owner.Memory));
                    Elsewhere(owner.Dispose);
                    break;
                case 7:
                    Write(new PooledBufferWriter<T>(pool));
                    break;
                case 8:
                    Write(new PooledSequenceWriter<T>(pool));
                    break;
                case 9:
                    ArraySegment<T> kept = pool.Rent(length).Detach();
                    LookAndFill("a detached buffer", kept.Array);
                    break;
                default:
                    using (var leases = new LeaseScope())
                    {
                        LookAndFill("a lease of a scope", Whole(leases.Rent(pool, length).Memory));
                        LookAndFill("a lease of a scope", Whole(leases.Rent(pool, length).Memory));
                    }

                    break;
            }
        }

        private void Lease(BufferLease<T> lease, int form)
        {
            LookAndFill("a lease", form == 1 ? lease.Segment.Array : Whole(lease.Memory));
            Elsewhere(lease.Return);
        }

        private void Write(PooledBufferWriter<T> writer)
        {
            for (int i = random.Next(1, 5); i > 0; i--)
            {
                Memory<T> room = writer.GetMemory(random.Next(1, 1000));
                LookAndFill("a writer that grew", Whole(room)[writer.WrittenCount..]);
                writer.Advance(room.Length);
            }

            if (random.Next(2) == 0)
            {
                writer.Detach().Return();
            }

            writer.Dispose();
        }

        private void Write(PooledSequenceWriter<T> writer)
        {
            for (int i = random.Next(1, 5); i > 0; i--)
            {
                Memory<T> room = writer.GetMemory(random.Next(1, 1000));
                LookAndFill("a sequence writer that grew", Whole(room));
                writer.Advance(room.Length);
            }

            if (random.Next(2) == 0)
            {
                writer.Detach().Dispose();
            }

            writer.Dispose();
        }

        /// <summary>The whole array behind the memory; full checks show none.</summary>
        private static Span<T> Whole(Memory<T> memory) =>
            MemoryMarshal.TryGetArray<T>(memory, out ArraySegment<T> segment) ? segment.Array : memory.Span;

        private void Elsewhere(Action action)
        {
            if (random.Next(4) > 0)
            {
                action();
            }
            else
            {
                Task.Run(action).GetAwaiter().GetResult();
            }
        }

        private void LookAndFill(string where, Span<T> memory)
        {
            attack.Look<T>(where, memory);
            memory.Fill(secret);
        }
    }
}
