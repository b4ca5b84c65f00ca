using System.Buffers;
using System.IO.Pipelines;
using CommunityToolkit.HighPerformance.Buffers;

namespace Tidepool.Labs;

/// <summary>Lab <c>writers</c>: which buffer writer?</summary>
internal sealed class WritersLab : ILab
{
    private const string Plain = "ArrayBufferWriter<T>";
    private const string Contiguous = "PooledBufferWriter<T>";
    private const int Part = 256; // bytes that are asked for at a time

    /// <inheritdoc/>
    public string Name => "writers";

    /// <inheritdoc/>
    public string Question => "Which buffer writer?";

    /// <inheritdoc/>
    public string Headline => Contiguous;

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        plan.Rivals["ArrayBufferWriter"] = RivalVersion.Of(typeof(ArrayBufferWriter<byte>));
        plan.Rivals["CommunityToolkit.HighPerformance"] = RivalVersion.Of(typeof(ArrayPoolBufferWriter<byte>));
        plan.Rivals["Pipe"] = RivalVersion.Of(typeof(Pipe));
        plan.Rivals["Microsoft.Extensions.ObjectPool"] = RivalVersion.Of(typeof(Microsoft.Extensions.ObjectPool.ObjectPool));
        int[] lengths = plan.Mode == LabMode.Full ? [100, 1000, 10_000, 100_000, 1 << 20, 16 << 20] : [100, 10_000, 1 << 20];
        var bytes = new Section
        {
            Title = "Bytes",
            About =
                $"Make a writer, ask for {Part} bytes at a time and fill them, look at what "
                    + "was written, end the writer; time for all of it.",
            Baseline = Plain,
            Varies = ["length"],
            Operation = "writer",
        };
        var json = new Section
        {
            Title = "JSON",
            About = "The same with a Utf8JsonWriter that writes an array of objects of about that many bytes.",
            Baseline = Plain,
            Varies = ["length"],
            Operation = "writer",
        };
        foreach (int length in lengths)
        {
            Add<PlainWriter>(plan, bytes, json, length, Plain, ours: false);
            Add<ToolkitWriter>(plan, bytes, json, length, "ArrayPoolBufferWriter<T> (CommunityToolkit)", ours: false);
            Add<PipeWriterSubject>(plan, bytes, json, length, "Pipe", ours: false);
            Add<ContiguousWriter>(plan, bytes, json, length, Contiguous, ours: true);
            Add<ObjectPoolWriter>(plan, bytes, json, length, "PooledBufferWriter<T>, object pool", ours: true);
            Add<SegmentedWriter>(plan, bytes, json, length, "PooledSequenceWriter<T>", ours: true);
            Add<StreamWriterSubject>(plan, bytes, json, length, "PooledMemoryStream, rented", ours: true);
        }
    }

    private static void Add<T>(LabPlan plan, Section bytes, Section json, int length, string name, bool ours)
        where T : struct, IWriterSubject<T>
    {
        int everyRounds = length < 16 << 20 ? 1 : 2; // one writer takes longer than all shorter rows together
        plan.Add(new Workload
        {
            Key = new(Cell.Of(("length", length), ("content", "bytes")), name),
            Section = bytes,
            Ours = ours,
            EveryRounds = everyRounds,
            Create = () => new SingleThreadLoop(operations => WriterLoop<T>.Run(operations, length, Part)),
        });
        plan.Add(new Workload
        {
            Key = new(Cell.Of(("length", length), ("content", "JSON")), name),
            Section = json,
            Ours = ours,
            EveryRounds = everyRounds,
            Create = () => new SingleThreadLoop(operations => WriterLoop<T>.RunJson(operations, length)),
        });
    }
}
