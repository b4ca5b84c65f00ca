using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool.Labs;

/// <summary>Native memory from .NET: leases of the native pool beside the calls of the runtime and beside managed leases.</summary>
internal static class NativeLeases
{
    private const string Alloc = "NativeMemory.Alloc";
    private const string AlignedAlloc = "NativeMemory.AlignedAlloc";
    private const string Managed = "managed lease";
    private const string Native = "native lease";
    private const string Aligned = "native lease, aligned";
    private const int Alignment = 64;
    private static readonly int[] Sizes = [64, 4096, 65536];

    /// <summary>Adds workloads and verdicts.</summary>
    public static void Describe(LabPlan plan)
    {
        var section = new Section
        {
            Title = "From .NET",
            About = $"Rent a block of native memory, write its first byte, return it, on one thread. Aligned is to {Alignment} "
                + "bytes. A managed lease is of an array of the same length.",
            Baseline = Alloc,
            Varies = ["size"],
        };
        foreach (int size in Sizes)
        {
            Add(plan, section, size, Alloc, ours: false, () => operations => AllocAndFree(operations, size));
            Add(plan, section, size, AlignedAlloc, ours: false, () => operations => AlignedAllocAndFree(operations, size));
            Add(plan, section, size, Managed, ours: true, () => operations => Rent(BufferPool<byte>.Shared, operations, size));
            AddNative(plan, section, size, Native, alignment: 0);
            AddNative(plan, section, size, Aligned, Alignment);
        }

        plan.Add(Within(Bars.NetLease, Native, Managed, Sizes));
        plan.Add(Within(Bars.NetSmall, Native, Alloc, 64));
        plan.Add(Within(Bars.NetLarge, Native, Alloc, [.. Sizes.Where(size => size >= 4096)]));
        plan.Add(Within(Bars.NetAligned, Aligned, AlignedAlloc, Sizes));
    }

    private static Cell CellOf(int size) => Cell.Of(("from", ".NET"), ("size", size));

    private static RatioRule Within(Bar bar, string ours, string other, params int[] sizes) =>
        new(bar, [.. sizes.Select(size => (new WorkloadKey(CellOf(size), ours), new WorkloadKey(CellOf(size), other)))]);

    private static void AddNative(LabPlan plan, Section section, int size, string subject, int alignment) =>
        Add(plan, section, size, subject, ours: true, () =>
        {
            if (!NativeBridge.Exists)
            {
                return null;
            }

            var pool = NativeBridge.NewPool(alignment);
            return operations => Rent(pool, operations, size);
        });

    private static void Add(
        LabPlan plan, Section section, int size, string subject, bool ours, Func<Action<int>?> create) => plan.Add(new Workload
    {
        Key = new(CellOf(size), subject),
        Section = section,
        Ours = ours,
        Create = () => create() is { } body ? new SingleThreadLoop(body) : null,
        Missing = NativeBridge.Missing,
    });

    private static unsafe void AllocAndFree(int operations, int size)
    {
        for (int i = 0; i < operations; i++)
        {
            byte* block = (byte*)NativeMemory.Alloc((nuint)size);
            *block = 1;
            NativeMemory.Free(block);
        }
    }

    private static unsafe void AlignedAllocAndFree(int operations, int size)
    {
        for (int i = 0; i < operations; i++)
        {
            byte* block = (byte*)NativeMemory.AlignedAlloc((nuint)size, Alignment);
            *block = 1;
            NativeMemory.AlignedFree(block);
        }
    }

    // One loop for managed and native leases: what differs is the pool alone.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Rent(BufferPool<byte> pool, int operations, int size)
    {
        for (int i = 0; i < operations; i++)
        {
            var lease = pool.Rent(size);
            lease.Span[0] = 1;
            lease.Return();
        }
    }
}
