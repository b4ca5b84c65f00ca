using System.Buffers;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// An <see cref="IBufferWriter{T}"/> whose elements lie in segments of pooled memory: growing never copies what was written, and the
/// result is a <see cref="ReadOnlySequence{T}"/>.
/// </summary>
/// <typeparam name="T">Any element type. Elements that hold references are cleared when they are given up.</typeparam>
/// <remarks>
/// Not thread-safe; disposals that race return each buffer once. Segments grow fourfold from 1 KiB to 1 MiB. Cost: this object, and one
/// object of about 80 bytes for each segment, of which the first is kept by <see cref="Reset"/>.
/// </remarks>
/// <example>
/// <code>
/// using var writer = new PooledSequenceWriter&lt;byte&gt;();
/// writer.GetSpan(100_000).Clear();
/// writer.Advance(100_000);
/// Console.WriteLine(writer.GetReadOnlySequence().Length);
/// </code>
/// </example>
public sealed class PooledSequenceWriter<T> : IBufferWriter<T>, IDisposable, IResettable
{
    private const int FirstBytes = 1 << 10;
    private const int MaxBytes = 1 << 20;
    private const int GrowthShift = 2;

    private readonly BufferPool<T>? _pool;
    private readonly long _maxLength = long.MaxValue;
    private WriterSegment<T>? _first;
    private WriterSegment<T>? _last;
    private int _handed;
    private bool _disposed;

    /// <summary>Makes a writer over <see cref="BufferPool{T}.Shared"/>. Nothing is rented before it is needed.</summary>
    public PooledSequenceWriter()
    {
    }

    /// <summary>Makes a writer.</summary>
    /// <param name="pool">Where segments come from; null for <see cref="BufferPool{T}.Shared"/>. It is not disposed with the
    /// writer.</param>
    /// <param name="maxLength">The most elements that may be written, 0 or more.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="maxLength"/> is negative.</exception>
    public PooledSequenceWriter(BufferPool<T>? pool, long maxLength = long.MaxValue)
    {
        if (maxLength < 0)
        {
            throw new ArgumentOutOfRangeException(nameof(maxLength), maxLength, "The maximum length must be 0 elements or more.");
        }

        _pool = pool;
        _maxLength = maxLength;
    }

    /// <summary>The number of elements written so far.</summary>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public long WrittenCount => CheckOpen().Count;

    private BufferPool<T> Pool => _pool ?? BufferPool<T>.Shared;

    /// <summary>The longest piece of memory that the pool makes, in elements.</summary>
    private int LongestBuffer => Pool.Core.Settings.LongestBuffer;

    /// <summary>The longest segment that growth makes, in elements.</summary>
    private int LongestSegment => Math.Min(Math.Max(1, MaxBytes / Unsafe.SizeOf<T>()), LongestBuffer);

    private long Count => _last is null ? 0 : _last.RunningIndex + _last.Written;

    /// <summary>The elements written so far.</summary>
    /// <returns>The memory of the writer itself: not to be used after <see cref="Reset"/>, <see cref="Detach"/> or the disposal. Later
    /// writes do not change it.</returns>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    /// <remarks>Allocates nothing.</remarks>
    public ReadOnlySequence<T> GetReadOnlySequence() => WriterSegment<T>.SequenceOf(CheckOpen()._first, _last);

    /// <inheritdoc/>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <exception cref="InsufficientMemoryException">The writer would hold more than its maximum length, or the pool makes nothing as
    /// long as <paramref name="sizeHint"/>.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public Memory<T> GetMemory(int sizeHint = 0)
    {
        Memory<T> memory = MakeRoom(sizeHint).FreeMemory;
        memory = memory[..(int)Math.Min(memory.Length, _maxLength - Count)];
        _handed = memory.Length;
        return memory;
    }

    /// <inheritdoc/>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <exception cref="InsufficientMemoryException">The writer would hold more than its maximum length, or the pool makes nothing as
    /// long as <paramref name="sizeHint"/>.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public Span<T> GetSpan(int sizeHint = 0)
    {
        Span<T> span = MakeRoom(sizeHint).FreeSpan;
        span = span[..(int)Math.Min(span.Length, _maxLength - Count)];
        _handed = span.Length;
        return span;
    }

    /// <inheritdoc/>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    /// <exception cref="InvalidOperationException">That much was not handed out.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public void Advance(int count)
    {
        if ((uint)(count - 1) >= (uint)_handed)
        {
            AdvanceByNothing(count);
            return;
        }

        _last!.Advance(count);
        _handed -= count;
    }

    /// <summary>Writes elements: first into the room that is left, then into new segments.</summary>
    /// <param name="elements">What is copied.</param>
    /// <exception cref="InsufficientMemoryException">The writer would hold more than its maximum length; nothing was written.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public void Write(ReadOnlySpan<T> elements)
    {
        CheckOpen();
        CheckLength(elements.Length);
        _handed = 0;
        while (!elements.IsEmpty)
        {
            if (_last is null || _last.Room == 0)
            {
                AddSegment(Math.Min(elements.Length, LongestSegment));
            }

            int count = Math.Min(_last!.Room, elements.Length);
            elements[..count].CopyTo(_last.FreeSpan);
            _last.Advance(count);
            elements = elements[count..];
        }
    }

    /// <summary>
    /// The elements written so far in one piece, to be read or changed in place: without a copy when they lie in one segment, otherwise
    /// copied once into a single one, which stays.
    /// </summary>
    /// <returns>The memory of the writer itself: not to be used after the next call of any other member.</returns>
    /// <exception cref="InvalidOperationException">There are more elements than one piece of the pool's memory can hold.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public Span<T> ToSpanUnsafe()
    {
        CheckOpen();
        if (_first is null)
        {
            return default;
        }

        if (_first != _last)
        {
            Consolidate();
        }

        return _first.Lease.Span[.._first.Written];
    }

    /// <summary>Forgets what was written. The first segment is kept for what comes, the others are returned.</summary>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public void Reset()
    {
        CheckOpen();
        _handed = 0;
        if (_first is not { } first)
        {
            return;
        }

        WriterSegment<T>? others = first.Following;
        _last = first;
        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            first.Lease.Span.Clear(); // also what was handed out and written without Advance
        }

        first.Restart();
        WriterSegment<T>.ReturnAll(others);
    }

    /// <inheritdoc/>
    /// <remarks>Returns every segment, so that a writer that waits in a pool holds none.</remarks>
    public bool TryReset()
    {
        if (_disposed)
        {
            return false;
        }

        ReturnSegments();
        return true;
    }

    /// <summary>Takes what was written out of the writer, which is empty afterwards and can be used on. Nothing is copied.</summary>
    /// <returns>The elements; dispose it to return the segments.</returns>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public SequenceLease<T> Detach()
    {
        CheckOpen();
        var content = new SequenceLease<T>(_first, _last);
        _first = null;
        _last = null;
        _handed = 0;
        return content;
    }

    /// <summary>Returns every segment. A second call does nothing.</summary>
    public void Dispose()
    {
        _disposed = true;
        ReturnSegments();
    }

    private void ReturnSegments()
    {
        WriterSegment<T>? first = Interlocked.Exchange(ref _first, null);
        _last = null;
        _handed = 0;
        WriterSegment<T>.ReturnAll(first);
    }

    private WriterSegment<T> MakeRoom(int sizeHint)
    {
        WriterSegment<T>? last = _last;
        if (last is not null && last.Room > 0 && (uint)sizeHint <= (uint)last.Room && _maxLength == long.MaxValue)
        {
            return last;
        }

        CheckOpen();
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        sizeHint = Math.Max(sizeHint, 1);
        CheckLength(sizeHint);
        if (sizeHint > LongestBuffer)
        {
            throw new InsufficientMemoryException(
                $"One piece of memory has at most {LongestBuffer} elements here; {sizeHint} were asked for.");
        }

        if (last is null || last.Room < sizeHint)
        {
            AddSegment(sizeHint);
        }

        return _last!;
    }

    private void AddSegment(int least)
    {
        int elementBytes = Unsafe.SizeOf<T>();
        long growth = _last is null ? Math.Max(1, FirstBytes / elementBytes) : (long)_last.Lease.Length << GrowthShift;
        long wanted = Math.Min(Math.Max(growth, BitOperations.RoundUpToPowerOf2((uint)least)), LongestSegment);
        var segment = new WriterSegment<T>(Pool.Rent((int)Math.Max(wanted, least)));
        WriterSegment<T>? last = _last;
        _last = segment;
        if (last is null || (last.Written == 0 && last == _first))
        {
            _first = segment;
            last?.Return(); // too small, and nothing is in it
        }
        else
        {
            last.Append(segment);
        }
    }

    private void Consolidate()
    {
        if (Count > LongestBuffer)
        {
            throw new InvalidOperationException(
                $"The writer holds {Count} elements, more than the {LongestBuffer} of one piece of memory. Use "
                    + $"{nameof(GetReadOnlySequence)}.");
        }

        var whole = new WriterSegment<T>(Pool.Rent((int)Count));
        GetReadOnlySequence().CopyTo(whole.FreeSpan);
        whole.Advance((int)Count);
        WriterSegment<T>? parts = _first;
        _first = whole;
        _last = whole;
        _handed = 0;
        WriterSegment<T>.ReturnAll(parts);
    }

    private void CheckLength(int more)
    {
        if (more > _maxLength - Count)
        {
            throw new InsufficientMemoryException(
                $"The writer holds {Count} elements; {more} more would exceed its maximum length of {_maxLength}.");
        }
    }

    /// <summary>This writer, which is not disposed.</summary>
    private PooledSequenceWriter<T> CheckOpen() => _disposed ? throw WriterErrors.Disposed<T>(nameof(PooledSequenceWriter<T>)) : this;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void AdvanceByNothing(int count)
    {
        CheckOpen();
        WriterErrors.Check(count, _handed);
    }
}
