using System.Buffers;
using System.IO.Pipelines;
using System.Text.Json;
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
        int[] lengths = plan.Mode == LabMode.Full ? [100, 1000, 10_000, 100_000, 1 << 20, 16 << 20] : [100, 10_000, 1 << 20];
        var bytes = new Section
        {
            Title = "Bytes",
            About = $"Make a writer, ask for {Part} bytes at a time and fill them, look at what was written, end the writer; time for all of it.",
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
            Add<SegmentedWriter>(plan, bytes, json, length, "PooledSequenceWriter<T>", ours: true);
            Add<StreamWriterSubject>(plan, bytes, json, length, "PooledMemoryStream, rented", ours: true);
        }
    }

    private static void Add<T>(LabPlan plan, Section bytes, Section json, int length, string name, bool ours)
        where T : struct, IWriterSubject<T>
    {
        plan.Add(new Workload
        {
            Key = new(Cell.Of(("length", length), ("content", "bytes")), name),
            Section = bytes,
            Ours = ours,
            Create = () => new SingleThreadLoop(operations => WriterLoop<T>.Run(operations, length, Part)),
        });
        plan.Add(new Workload
        {
            Key = new(Cell.Of(("length", length), ("content", "JSON")), name),
            Section = json,
            Ours = ours,
            Create = () => new SingleThreadLoop(operations => WriterLoop<T>.RunJson(operations, length)),
        });
    }
}

/// <summary>A kind of buffer writer; a struct, so that each kind has loops of its own.</summary>
internal interface IWriterSubject<TSelf>
    where TSelf : struct, IWriterSubject<TSelf>
{
    /// <summary>The writer.</summary>
    IBufferWriter<byte> Writer { get; }

    /// <summary>An empty writer.</summary>
    static abstract TSelf Open();

    /// <summary>Looks at what was written, and ends the writer.</summary>
    /// <returns>The number of bytes.</returns>
    long Close();
}

/// <summary>The loops of one kind of buffer writer.</summary>
internal static class WriterLoop<T>
    where T : struct, IWriterSubject<T>
{
    private static readonly JsonWriterOptions Unchecked = new() { SkipValidation = true };

    /// <summary>Fills writers with bytes.</summary>
    public static void Run(int operations, int length, int part)
    {
        for (int i = 0; i < operations; i++)
        {
            T subject = T.Open();
            var writer = subject.Writer;
            for (int written = 0; written < length; written += part)
            {
                int count = Math.Min(part, length - written);
                writer.GetSpan(count)[..count].Fill((byte)i);
                writer.Advance(count);
            }

            Check(subject.Close(), length);
        }
    }

    /// <summary>Fills writers with JSON.</summary>
    public static void RunJson(int operations, int length)
    {
        for (int i = 0; i < operations; i++)
        {
            T subject = T.Open();
            using (var json = new Utf8JsonWriter(subject.Writer, Unchecked))
            {
                json.WriteStartArray();
                while (json.BytesCommitted + json.BytesPending < length)
                {
                    json.WriteStartObject();
                    json.WriteNumber("id"u8, i);
                    json.WriteString("text"u8, "rent, use, return"u8);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
            }

            Check(subject.Close(), length);
        }
    }

    private static void Check(long written, int length)
    {
        if (written < length)
        {
            throw new InvalidOperationException($"{written} bytes came out of {length}.");
        }
    }
}

/// <summary>What the platform has.</summary>
internal readonly struct PlainWriter(ArrayBufferWriter<byte> writer) : IWriterSubject<PlainWriter>
{
    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => writer;

    /// <inheritdoc/>
    public static PlainWriter Open() => new(new ArrayBufferWriter<byte>());

    /// <inheritdoc/>
    public long Close() => writer.WrittenSpan.Length;
}

/// <summary>The pooled writer of CommunityToolkit.</summary>
internal readonly struct ToolkitWriter(ArrayPoolBufferWriter<byte> writer) : IWriterSubject<ToolkitWriter>
{
    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => writer;

    /// <inheritdoc/>
    public static ToolkitWriter Open() => new(new ArrayPoolBufferWriter<byte>());

    /// <inheritdoc/>
    public long Close()
    {
        long length = writer.WrittenSpan.Length;
        writer.Dispose();
        return length;
    }
}

/// <summary>A pipe that nobody reads from before all is written.</summary>
internal readonly struct PipeWriterSubject(Pipe pipe) : IWriterSubject<PipeWriterSubject>
{
    private static readonly PipeOptions Options = new(pauseWriterThreshold: 0, useSynchronizationContext: false);

    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => pipe.Writer;

    /// <inheritdoc/>
    public static PipeWriterSubject Open() => new(new Pipe(Options));

    /// <inheritdoc/>
    public long Close()
    {
        pipe.Writer.Complete();
        pipe.Reader.TryRead(out ReadResult result);
        long length = result.Buffer.Length;
        pipe.Reader.AdvanceTo(result.Buffer.End);
        pipe.Reader.Complete();
        return length;
    }
}

/// <summary>Ours in one piece.</summary>
internal readonly struct ContiguousWriter(PooledBufferWriter<byte> writer) : IWriterSubject<ContiguousWriter>
{
    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => writer;

    /// <inheritdoc/>
    public static ContiguousWriter Open() => new(new PooledBufferWriter<byte>());

    /// <inheritdoc/>
    public long Close()
    {
        long length = writer.WrittenSpan.Length;
        writer.Dispose();
        return length;
    }
}

/// <summary>Ours in segments.</summary>
internal readonly struct SegmentedWriter(PooledSequenceWriter<byte> writer) : IWriterSubject<SegmentedWriter>
{
    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => writer;

    /// <inheritdoc/>
    public static SegmentedWriter Open() => new(new PooledSequenceWriter<byte>());

    /// <inheritdoc/>
    public long Close()
    {
        long length = writer.GetReadOnlySequence().Length;
        writer.Dispose();
        return length;
    }
}

/// <summary>Our stream as a writer.</summary>
internal readonly struct StreamWriterSubject(PooledMemoryStream stream) : IWriterSubject<StreamWriterSubject>
{
    /// <inheritdoc/>
    public IBufferWriter<byte> Writer => stream;

    /// <inheritdoc/>
    public static StreamWriterSubject Open() => new(PooledMemoryStream.Rent());

    /// <inheritdoc/>
    public long Close()
    {
        long length = stream.GetReadOnlySequence().Length;
        stream.Dispose();
        return length;
    }
}
