using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A <see cref="MemoryStream"/> on pooled memory: the same behaviour, no growth by copying, nothing on the large object heap once warm, and
/// lengths above 2 GiB. Put <c>new PooledMemoryStream()</c> in place of <c>new MemoryStream()</c>, and dispose it.
/// </summary>
/// <remarks>
/// <para>What differs from <see cref="MemoryStream"/>, in full: (1) after <see cref="Stream.Dispose()"/> the content is gone:
/// <see cref="ToArray"/> and <see cref="GetBuffer"/> throw <see cref="ObjectDisposedException"/> and <see cref="TryGetBuffer"/> says false,
/// unless the stream is over an array of the caller; (2) a stream over a <c>byte[]</c> alone is read-only, the constructors that say
/// <c>writable</c> decide themselves; (3) positions and lengths end at 1 TiB and not at 2 GiB: <see cref="Capacity"/> saturates,
/// <see cref="CapacityLong"/> is exact, members that need one array throw <see cref="IOException"/> above <see cref="Array.MaxLength"/>,
/// and what needs more memory than the process may have throws <see cref="InsufficientMemoryException"/> before anything is rented; (4) the
/// array of <see cref="GetBuffer"/> is rented, so it may be longer than <see cref="Capacity"/>, holds anything behind the content, and is
/// void after the stream has grown or was disposed; (5) copies are written segment by segment, and throw
/// <see cref="InvalidOperationException"/> when their target makes the stream shorter in between; (6) the array of
/// <see cref="TryGetBuffer"/> has room for the content only; (7) a write that fits into the stream's room and races the disposal may
/// change memory that has another renter by then.</para>
/// <para>Memory: the first 1,024 bytes come with the stream's state from the thread's tier; longer content lies in segments of growing
/// length, 4 KiB to 1 MiB, from <see cref="BufferPool{T}.Shared"/> or a pool of your choice. Nothing is copied when the stream grows. A
/// stream that is dropped without being disposed is collected with its memory; one in some is reported as
/// <see cref="MisuseKind.NeverReturned"/> with the place where it was made.</para>
/// <para>Thread safety: one thread at a time, as with <see cref="MemoryStream"/>. Disposals that race return each segment once.</para>
/// <para>Cost: a new stream allocates its own object and nothing else once the pools are warm; <see cref="RentLease()"/> allocates
/// nothing.</para>
/// </remarks>
/// <example>
/// <code>
/// using var stream = new PooledMemoryStream();
/// stream.Write("rent, use, return"u8);
/// stream.Position = 0;
/// using var reader = new StreamReader(stream);
/// Console.WriteLine(reader.ReadToEnd());
/// </code>
/// </example>
public sealed partial class PooledMemoryStream : MemoryStream, IBufferWriter<byte>, IResettable
{
    private StreamCore _core;

    /// <summary>Whether the stream is open: it can always be read.</summary>
    public override bool CanRead => _core != StreamCore.Closed;

    /// <summary>Whether the stream is open: it can always be positioned.</summary>
    public override bool CanSeek => _core != StreamCore.Closed;

    /// <summary>Whether the stream can be written to; false when it is disposed.</summary>
    public override bool CanWrite => (_core.Flags & StreamFlags.Writable) != 0;

    /// <summary>The length of the content in bytes.</summary>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    public override long Length => Open().Length;

    /// <summary>
    /// The bytes that the stream has said it can hold, as <see cref="MemoryStream"/> counts them: 0, then at least 256, doubling. Memory
    /// is rented when it is written to, not before. <see cref="int.MaxValue"/> stands for more than an <see cref="int"/> can say.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is less than <see cref="Length"/>.</exception>
    /// <exception cref="NotSupportedException">The stream is over memory of the caller, and the value is another than now.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    public override int Capacity
    {
        get => (int)Math.Min(Open().Capacity, int.MaxValue);
        set
        {
            if (value != int.MaxValue || Open().Capacity <= int.MaxValue)
            {
                CapacityLong = value;
            }
        }
    }

    /// <summary><see cref="Capacity"/> without its upper end.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is less than <see cref="Length"/>, or above the maximum length of the
    /// options.</exception>
    /// <exception cref="NotSupportedException">The stream is over memory of the caller, and the value is another than now.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    public long CapacityLong
    {
        get => Open().Capacity;
        set
        {
            if (!_core.TrySetCapacity(value))
            {
                SetCapacity(value);
            }
        }
    }

    /// <summary>
    /// The position in bytes. It may lie beyond the end: reading gives nothing there, and writing fills the gap with zeros.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative, or above 1 TiB (<see cref="int.MaxValue"/> in a stream over
    /// an array).</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    public override long Position
    {
        get => Open().Position;
        set
        {
            if (value < 0)
            {
                throw new ArgumentOutOfRangeException(nameof(value), value, "The position must not be negative.");
            }

            StreamCore core = Open();
            if (value > core.LongestPosition)
            {
                ThrowTooFar(core, nameof(value), value);
            }

            MoveTo(core, value);
        }
    }

    /// <summary>
    /// What all streams of the process have rented and returned. Sizes count only what comes with a stream's state; segments are counted
    /// by their pools.
    /// </summary>
    public static PoolStatistics GetStatistics() => StreamPool.Instance.Statistics;

    /// <summary>Sets the position relative to the start, the position or the end.</summary>
    /// <param name="offset">Bytes from there.</param>
    /// <param name="loc">Where to count from.</param>
    /// <returns>The new position.</returns>
    /// <exception cref="ArgumentException"><paramref name="loc"/> is no known origin.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The position would be beyond 1 TiB (<see cref="int.MaxValue"/> in a stream over an
    /// array).</exception>
    /// <exception cref="IOException">The position would be before the start.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    public override long Seek(long offset, SeekOrigin loc)
    {
        StreamCore core = Open();
        long from = loc switch
        {
            SeekOrigin.Begin => 0,
            SeekOrigin.Current => core.Position,
            SeekOrigin.End => core.Length,
            _ => throw new ArgumentException($"The origin must be Begin, Current or End, not {(int)loc}."),
        };
        if (offset > core.LongestPosition - from)
        {
            ThrowTooFar(core, nameof(offset), offset);
        }

        long position = from + offset;
        if (position < 0)
        {
            throw new IOException($"The position would be {position}, before the start of the stream.");
        }

        MoveTo(core, position);
        return position;
    }

    /// <summary>Returns all memory. A second call does nothing; of racing calls one returns the memory.</summary>
    public override void Close() => Dispose(true);

    /// <inheritdoc/>
    /// <remarks>
    /// Empties the stream and returns all memory but what a new stream has; options and pool stay. A stream over the caller's memory
    /// cannot be used again.
    /// </remarks>
    public bool TryReset()
    {
        StreamCore core = _core;
        if (!core.IsExpandable)
        {
            return false;
        }

        using (Change(core))
        {
            if (core.IsSmall)
            {
                core.BeFresh();
            }
            else
            {
                core.Recycle();
            }
        }

        return true;
    }

    /// <inheritdoc/>
    [SuppressMessage(
        "Usage", "CA2215:Dispose methods should call base class dispose",
        Justification = "The base has only its own empty buffer.")]
    protected override void Dispose(bool disposing)
    {
        if (!disposing || IsLeased)
        {
            return; // a lease ends its stream itself
        }

        // Of racing disposals one gets the core.
        StreamCore core = Interlocked.Exchange(ref _core, StreamCore.Closed);
        if (core == StreamCore.Closed)
        {
            return;
        }

        if ((core.Flags & StreamFlags.OverArray) != 0)
        {
            KeepContent(core.Length);
        }

        Return(core);
    }

    /// <summary>The core. For tests.</summary>
    internal StreamCore Core => _core;

    /// <summary>Checks every invariant of an open stream. For tests.</summary>
    /// <returns>What is wrong, or null.</returns>
    internal string? FindFault() => _core == StreamCore.Closed ? null : _core.FindFault();

    /// <summary>Remembers how long the content in the caller's array is.</summary>
    private void KeepContent(long length) => base.Position = length + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void SetCapacity(long value)
    {
        StreamCore core = Open();
        if (value < core.Length)
        {
            throw new ArgumentOutOfRangeException(
                nameof(value), value, $"The capacity cannot be less than the length, {core.Length} bytes.");
        }

        if (value == core.Capacity)
        {
            return;
        }

        if (!core.IsExpandable)
        {
            throw new NotSupportedException("The stream is over memory of the caller and cannot grow.");
        }

        if (value > core.MaxLength)
        {
            throw new ArgumentOutOfRangeException(
                nameof(value),
                value,
                $"The capacity must be at most {core.MaxLength} bytes, the maximum length of the stream's options.");
        }

        using (Change(core))
        {
            core.SetCapacity(value);
        }
    }

    private void MoveTo(StreamCore core, long position)
    {
        long index = position - core.Base;
        if (index >= core.First && index <= core.DataEnd)
        {
            core.Index = (int)index;
            return;
        }

        using (Change(core))
        {
            core.MoveTo(position);
        }
    }

    /// <summary>
    /// Whether only a lease ends the stream. The base, which is not used otherwise, knows it: a field would make every stream longer.
    /// </summary>
    private bool IsLeased => !base.CanWrite;

    /// <summary>
    /// Whether the stream is closed and lay over an array of the caller: the base has its content then, as <see cref="MemoryStream"/>
    /// does.
    /// </summary>
    private bool HasContentLeft => _core == StreamCore.Closed && base.Position > 0;

    /// <summary>The length of that content.</summary>
    private int LengthLeft => (int)base.Position - 1;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private StreamCore Open()
    {
        StreamCore core = _core;
        if (core == StreamCore.Closed)
        {
            ThrowClosed();
        }

        return core;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Return(StreamCore core)
    {
        if (core.CanRest())
        {
            core.Rest();
            StreamPool.Instance.Return(core);
        }
        else
        {
            ReturnSlow(core);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnSlow(StreamCore core)
    {
        if (core.Watch is not null)
        {
            StreamPool.EndWatch(core);
        }

        core.RetireAfterChanges();
    }

    /// <summary>Begins a change of <paramref name="core"/>, which the caller found open. Dispose the result to end it.</summary>
    /// <exception cref="ObjectDisposedException">The stream was disposed in the meantime; nothing was changed.</exception>
    private StreamChange Change(StreamCore core)
    {
        core.BeginChange();
        if (!Has(core))
        {
            core.EndChange();
            ThrowClosed();
        }

        return new StreamChange(core);
    }

    /// <summary>Throws if the stream no longer has the core: code that was called in a change may have disposed of the stream.</summary>
    private void CheckHas(StreamCore core)
    {
        if (!Has(core))
        {
            ThrowClosed();
        }
    }

    private bool Has(StreamCore core) => _core == core && (!IsLeased || core.IsLeasedOut);

    [DoesNotReturn]
    private static void ThrowTooFar(StreamCore core, string parameter, long value) =>
        throw new ArgumentOutOfRangeException(parameter, value, $"The position must be at most {core.LongestPosition}.");

    [DoesNotReturn]
    private static void ThrowClosed() => throw new ObjectDisposedException(null, "Cannot access a closed stream.");
}
