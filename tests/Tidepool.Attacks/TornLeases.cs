#pragma warning disable CA1001 // Finish ends the pools.

using System.Buffers;
using System.Runtime.InteropServices;

namespace Tidepool.Attacks;

/// <summary>Leases of buffers, of two lengths, from a pool that clears.</summary>
internal sealed class TornBuffers() : TornMemory<BufferLease<long>>(ClearMode.OnReturn)
{
    public override string Name => "torn-buffers";

    protected override string Noun => "A lease of a buffer";

    protected override BufferLease<long> Rent(Random random)
    {
        BufferLease<long> lease = Pool.Rent(LengthOf(random));
        lease.Span.Fill(-1);
        return lease;
    }

    protected override void Use(ref BufferLease<long> field, int way)
    {
        switch (way)
        {
            case 0:
                field.Return();
                break;
            case 1:
                field.ToOwner().Dispose();
                break;
            case 2:
                Fits(field.Detach());
                break;
            case < 6:
                field.Dispose();
                break;
            case < 10:
                _ = MemoryMarshal.TryGetArray<long>(field.Memory, out ArraySegment<long> segment);
                Fits(segment);
                break;
            case < 14:
                Fits(field.Segment);
                break;
            default:
                Span<long> span = field.Span;
                if (span.Length is not (16 or 3000))
                {
                    Break($"a span of {span.Length}");
                }

                break;
        }
    }

    protected override void End(BufferLease<long> lease) => lease.Dispose();

    protected override void Hold(int me, Random random)
    {
        BufferLease<long> lease = Pool.Rent(LengthOf(random));
        ShowsNothing(lease.Segment.Array);
        HoldAlone(lease, me);
    }

    private static int LengthOf(Random random) => random.Next(2) == 0 ? 16 : 3000;

    private void Fits(ArraySegment<long> segment)
    {
        if (segment.Count is not (16 or 3000) || segment.Count > segment.Array!.Length)
        {
            Break($"a segment of {segment.Count} elements in an array of {segment.Array!.Length}");
        }
    }
}

/// <summary>Leases of objects.</summary>
internal sealed class TornObjects : TornRentals<ObjectLease<Marked>>
{
    private ObjectPool<Marked>? _pool;

    public override string Name => "torn-objects";

    protected override string Noun => "A lease of an object";

    protected override void Begin(int threads) =>
        _pool = ObjectPool<Marked>.Create(static () => new Marked(), options: new() { Name = Name });

    protected override ObjectLease<Marked> Rent(Random random) => _pool!.Rent();

    protected override void Use(ref ObjectLease<Marked> field, int way)
    {
        switch (way)
        {
            case 0:
                field.Return();
                break;
            case 1:
                if (!field.Detach().TryKeep())
                {
                    Break("a detached object had another renter");
                }

                break;
            case < 8:
                field.Dispose();
                break;
            default:
                _ = field.Value;
                break;
        }
    }

    protected override void End(ObjectLease<Marked> lease) => lease.Dispose();

    protected override void Hold(int me, Random random)
    {
        ObjectLease<Marked> lease = _pool!.Rent();
        if (!lease.Value.IsMineAlone(me))
        {
            Break("one object had two renters");
        }

        lease.Return();
    }

    protected override void Finish()
    {
        Validate(_pool!.Validate);
        Ends("the disposal of the pool", _pool.Dispose);
    }
}

/// <summary>Owners that a memory pool uses again, and of leases.</summary>
internal sealed class TornOwners() : TornMemory<IMemoryOwner<long>>(ClearMode.OnReturn)
{
    private PooledMemoryPool<long>? _memory;

    public override string Name => "torn-owners";

    protected override string Noun => "An owner";

    protected override void Begin(int threads)
    {
        base.Begin(threads);
        _memory = new PooledMemoryPool<long>(Pool);
    }

    protected override IMemoryOwner<long> Rent(Random random)
    {
        IMemoryOwner<long> owner = random.Next(2) == 0 ? _memory!.Rent(random.Next(1, 3000)) : Pool.Rent(random.Next(1, 3000)).ToOwner();
        owner.Memory.Span.Fill(-1);
        return owner;
    }

    protected override void Use(ref IMemoryOwner<long>? field, int way)
    {
        if (way < 8)
        {
            field?.Dispose();
        }
        else
        {
            _ = field?.Memory.Span.Length;
        }
    }

    protected override void End(IMemoryOwner<long> lease) => lease.Dispose();

    protected override void Hold(int me, Random random)
    {
        using IMemoryOwner<long> owner = _memory!.Rent(random.Next(1, 3000));
        Span<long> span = owner.Memory.Span;
        ShowsNothing(span);
        span.Fill(me);
        Thread.SpinWait(20);
        if (owner.Memory.Span.ContainsAnyExcept(me))
        {
            Break("one owner's memory had two renters");
        }
    }

    protected override void Finish()
    {
        _memory!.Dispose();
        base.Finish();
    }
}

/// <summary>Sequences that were detached from a writer.</summary>
internal sealed class TornSequences() : TornMemory<SequenceLease<long>>(ClearMode.Never)
{
    public override string Name => "torn-sequences";

    protected override string Noun => "A sequence";

    protected override SequenceLease<long> Rent(Random random)
    {
        using var writer = new PooledSequenceWriter<long>(Pool);
        writer.GetSpan(random.Next(100, 3000)).Fill(-1);
        writer.Advance(100);
        return writer.Detach();
    }

    protected override void Use(ref SequenceLease<long>? field, int way)
    {
        if (way < 8)
        {
            field?.Dispose();
        }
        else if (field?.Sequence.Length is not (null or 0 or 100))
        {
            Break("a sequence has another's length");
        }
    }

    protected override void End(SequenceLease<long> lease) => lease.Dispose();

    protected override void Hold(int me, Random random) => HoldAlone(Pool.Rent(random.Next(100, 3000)), me);
}
