using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Tests.Streams;

/// <summary>One member of <see cref="MemoryStream"/>, called and summed up as text.</summary>
/// <param name="Name">The name in reports.</param>
/// <param name="Member">The member, as reflection has it.</param>
/// <param name="Weight">How often it is drawn.</param>
/// <param name="Run">Calls it.</param>
[SuppressMessage("Performance", "CA1835", Justification = "Every overload is to be called.")]
[SuppressMessage("Reliability", "CA2022", Justification = "What is read is compared.")]
[SuppressMessage("Reliability", "CA2012", Justification = "Everything is complete when it returns.")]
internal sealed record StreamOperation(string Name, string Member, int Weight, Func<MemoryStream, StreamArguments, object?> Run)
{
    /// <summary>What a closed <see cref="MemoryStream"/> still does and ours, as documented, does not.</summary>
    public static readonly HashSet<string> NeedsOpenStream = ["ToArray", "GetBuffer", "TryGetBuffer"];

    public static StreamOperation[] All()
    {
        return
        [
            .. Properties(), .. Reads(), .. Writes(), .. Copies(), .. Apm(),
            new("ToArray", "ToArray()", 3, (s, _) => Hash(s.ToArray())),
            new("GetBuffer", "GetBuffer()", 3, (s, _) => Visible(s)),
            new("TryGetBuffer", "TryGetBuffer(ArraySegment`1&)", 3, (s, _) => s.TryGetBuffer(out ArraySegment<byte> b) ? Hash(b) : "none"),
            new("Flush", "Flush()", 1, (s, _) => Do(s.Flush)),
            new("FlushAsync", "FlushAsync()", 1, (s, _) => Wait(s.FlushAsync())),
            new("FlushAsync token", "FlushAsync(CancellationToken)", 1, (s, a) => Wait(s.FlushAsync(a.Token))),
            new("Dispose", "Dispose()", 1, (s, _) => Do(s.Dispose)),
            new("Close", "Close()", 1, (s, _) => Do(s.Close)),
            new("DisposeAsync", "DisposeAsync()", 1, (s, _) => Wait(s.DisposeAsync().AsTask())),
        ];
    }

    private static IEnumerable<StreamOperation> Properties() =>
    [
        new("CanRead", "CanRead", 1, (s, _) => s.CanRead),
        new("CanSeek", "CanSeek", 1, (s, _) => s.CanSeek),
        new("CanWrite", "CanWrite", 1, (s, _) => s.CanWrite),
        new("CanTimeout", "CanTimeout", 1, (s, _) => s.CanTimeout),
        new("ReadTimeout", "ReadTimeout", 1, (s, a) => a.Choice % 2 == 0 ? s.ReadTimeout : s.ReadTimeout = 1),
        new("WriteTimeout", "WriteTimeout", 1, (s, a) => a.Choice % 2 == 0 ? s.WriteTimeout : s.WriteTimeout = 1),
        new("Length", "Length", 2, (s, _) => s.Length),
        new("Position", "Position", 2, (s, _) => s.Position),
        new("set Position", "Position", 30, (s, a) => s.Position = a.Place),
        new("Capacity", "Capacity", 2, (s, _) => s.Capacity),
        new(
            "set Capacity",
            "Capacity",
            3,
            (s, a) => s.Capacity = a.Choice % 4 == 0 ? (int)Math.Clamp(a.Place, -1, 100_000) : (int)s.Length + (a.Choice % 3 * 100)),
        new("SetLength", "SetLength(Int64)", 12, (s, a) => Do(() => s.SetLength(a.Place))),
        new("Seek", "Seek(Int64,SeekOrigin)", 25, (s, a) => s.Seek(a.Origin == SeekOrigin.Begin ? a.Place : a.Place % 100, a.Origin)),
    ];

    private static IEnumerable<StreamOperation> Reads() =>
    [
        new("ReadByte", "ReadByte()", 30, (s, _) => s.ReadByte()),
        new("Read", "Read(Byte[],Int32,Int32)", 25, (s, a) => Into(a, b => s.Read(b!, a.Offset, a.Count))),
        new("Read span", "Read(Span`1)", 25, (s, a) => IntoPart(a, b => s.Read(b.AsSpan()))),
        new(
            "ReadAsync",
            "ReadAsync(Byte[],Int32,Int32)",
            5,
            (s, a) => Into(a, b => s.ReadAsync(b!, a.Offset, a.Count).GetAwaiter().GetResult())),
        new(
            "ReadAsync token",
            "ReadAsync(Byte[],Int32,Int32,CancellationToken)",
            5,
            (s, a) => Into(a, b => s.ReadAsync(b!, a.Offset, a.Count, a.Token).GetAwaiter().GetResult())),
        new(
            "ReadAsync memory",
            "ReadAsync(Memory`1,CancellationToken)",
            5,
            (s, a) => IntoPart(a, b => s.ReadAsync(b.AsMemory(), a.Token).AsTask().GetAwaiter().GetResult())),
        new(
            "ReadExactly",
            "ReadExactly(Byte[],Int32,Int32)",
            3,
            (s, a) => Into(a, b => { s.ReadExactly(b!, a.Offset, a.Count); return a.Count; })),
        new("ReadExactly span", "ReadExactly(Span`1)", 3, (s, a) => IntoPart(a, b => { s.ReadExactly(b.AsSpan()); return b.Length; })),
        new(
            "ReadAtLeast",
            "ReadAtLeast(Span`1,Int32,Boolean)",
            3,
            (s, a) => IntoPart(a, b => s.ReadAtLeast(b.AsSpan(), a.Choice % 30, a.Choice % 2 == 0))),
        new(
            "ReadExactlyAsync",
            "ReadExactlyAsync(Byte[],Int32,Int32,CancellationToken)",
            2,
            (s, a) =>
                Into(a, b => { s.ReadExactlyAsync(b!, a.Offset, a.Count, a.Token).AsTask().GetAwaiter().GetResult(); return a.Count; })),
        new(
            "ReadExactlyAsync memory",
            "ReadExactlyAsync(Memory`1,CancellationToken)",
            2,
            (s, a) => IntoPart(a, b => { s.ReadExactlyAsync(b.AsMemory(), a.Token).AsTask().GetAwaiter().GetResult(); return b.Length; })),
        new(
            "ReadAtLeastAsync",
            "ReadAtLeastAsync(Memory`1,Int32,Boolean,CancellationToken)",
            2,
            (s, a) =>
                IntoPart(
                    a,
                    b => s.ReadAtLeastAsync(b.AsMemory(), a.Choice % 30, a.Choice % 2 == 0, a.Token).AsTask().GetAwaiter().GetResult())),
    ];

    private static IEnumerable<StreamOperation> Writes() =>
    [
        new("WriteByte", "WriteByte(Byte)", 30, (s, a) => Do(() => s.WriteByte(a.Value))),
        new("Write", "Write(Byte[],Int32,Int32)", 30, (s, a) => Do(() => s.Write(a.Buffer!, a.Offset, a.Count))),
        new("Write span", "Write(ReadOnlySpan`1)", 30, (s, a) => Do(() => s.Write(a.Part.AsSpan()))),
        new("WriteAsync", "WriteAsync(Byte[],Int32,Int32)", 5, (s, a) => Wait(s.WriteAsync(a.Buffer!, a.Offset, a.Count))),
        new(
            "WriteAsync token",
            "WriteAsync(Byte[],Int32,Int32,CancellationToken)",
            5,
            (s, a) => Wait(s.WriteAsync(a.Buffer!, a.Offset, a.Count, a.Token))),
        new(
            "WriteAsync memory",
            "WriteAsync(ReadOnlyMemory`1,CancellationToken)",
            5,
            (s, a) => Wait(s.WriteAsync(a.Part.AsMemory(), a.Token).AsTask())),
    ];

    private static IEnumerable<StreamOperation> Copies() =>
    [
        new("CopyTo", "CopyTo(Stream)", 4, (s, a) => Send(a, s, t => s.CopyTo(t!))),
        new("CopyTo size", "CopyTo(Stream,Int32)", 4, (s, a) => Send(a, s, t => s.CopyTo(t!, a.Choice - 5))),
        new("CopyToAsync", "CopyToAsync(Stream)", 2, (s, a) => Send(a, s, t => Wait(s.CopyToAsync(t!)))),
        new("CopyToAsync size", "CopyToAsync(Stream,Int32)", 2, (s, a) => Send(a, s, t => Wait(s.CopyToAsync(t!, a.Choice - 5)))),
        new("CopyToAsync token", "CopyToAsync(Stream,CancellationToken)", 2, (s, a) => Send(a, s, t => Wait(s.CopyToAsync(t!, a.Token)))),
        new(
            "CopyToAsync all",
            "CopyToAsync(Stream,Int32,CancellationToken)",
            2,
            (s, a) => Send(a, s, t => Wait(s.CopyToAsync(t!, a.Choice - 5, a.Token)))),
        new("WriteTo", "WriteTo(Stream)", 4, (s, a) => Send(a, s, t => s.WriteTo(t!))),
    ];

    private static IEnumerable<StreamOperation> Apm() =>
    [
        new("BeginRead", "BeginRead(Byte[],Int32,Int32,AsyncCallback,Object)", 1, (s, a) => Into(a, b =>
        {
            IAsyncResult read = s.BeginRead(b!, a.Offset, a.Count, null, "state");
            return Equals(read.AsyncState, "state") ? s.EndRead(read) : -2;
        })),
        new("EndRead", "EndRead(IAsyncResult)", 1, (s, a) => s.EndRead(a.Choice % 2 == 0 ? null! : Task.CompletedTask)),
        new("BeginWrite", "BeginWrite(Byte[],Int32,Int32,AsyncCallback,Object)", 1, (s, a) => Do(() =>
        {
            using var called = new ManualResetEventSlim();
            IAsyncResult write = s.BeginWrite(a.Buffer!, a.Offset, a.Count, _ => called.Set(), null);
            s.EndWrite(write);
            Assert.True(called.Wait(TimeSpan.FromMinutes(1)));
        })),
        new("EndWrite", "EndWrite(IAsyncResult)", 1, (s, a) => Do(() => s.EndWrite(a.Choice % 2 == 0 ? null! : Task.CompletedTask))),
    ];

    private static string Do(Action act)
    {
        act();
        return "done";
    }

    private static string Wait(Task task)
    {
        task.GetAwaiter().GetResult();
        return "done";
    }

    /// <summary>Reads into a buffer of its own and tells what is in it afterwards, before and behind as well.</summary>
    private static string Into(StreamArguments arguments, Func<byte[]?, int> read)
    {
        byte[]? buffer = arguments.Buffer is null ? null : new byte[Math.Clamp(arguments.Offset + (long)arguments.Count, 0, 160_000)];
        int count = read(buffer);
        return $"{count} {Hash(buffer)}";
    }

    private static string IntoPart(StreamArguments arguments, Func<byte[], int> read)
    {
        byte[] buffer = new byte[arguments.Part.Count];
        int count = read(buffer);
        return $"{count} {Hash(buffer)}";
    }

    /// <summary>Sends content somewhere and tells what arrived, also when the target throws in the middle.</summary>
    private static string Send(StreamArguments arguments, MemoryStream source, Action<Stream?> send)
    {
        switch (arguments.Choice % 8)
        {
            case 0:
                send(null);
                return "done";
            case 1:
                using (var closed = new MemoryStream())
                {
                    closed.Close();
                    send(closed);
                    return "done";
                }

            case 2:
                using (var readOnly = new MemoryStream(new byte[10], false))
                {
                    send(readOnly);
                    return "done";
                }

            case 3:
                using (var sink = new Sink(throwAfter: 1))
                {
                    send(sink);
                    return "done";
                }

            case 4 when source.CanRead && source.Length < 5000:
                send(source);
                return "done";
            case 5:
                using (var memory = new MemoryStream())
                {
                    send(memory);
                    return Hash(memory.ToArray());
                }

            default:
                using (var sink = new Sink(throwAfter: int.MaxValue))
                {
                    send(sink);
                    return Hash(sink.Content);
                }
        }
    }

    private static string Visible(MemoryStream stream)
    {
        byte[] buffer = stream.GetBuffer();
        return stream.TryGetBuffer(out ArraySegment<byte> part) && part.Array == buffer && buffer.Length >= stream.Capacity
            ? Hash(part)
            : "another array";
    }

    private static string Hash(ReadOnlySpan<byte> bytes)
    {
        HashCode hash = default;
        hash.AddBytes(bytes);
        return $"{bytes.Length} bytes {hash.ToHashCode()}";
    }

    /// <summary>A target that is no memory stream and may fail.</summary>
    private sealed class Sink(int throwAfter) : TargetStream
    {
        private readonly List<byte> _content = [];
        private int _writes;

        public byte[] Content => [.. _content];

        public override void Write(byte[] buffer, int offset, int count)
        {
            if (++_writes >= throwAfter)
            {
                throw new FormatException("The sink is full.");
            }

            _content.AddRange(buffer.AsSpan(offset, count));
        }
    }
}
