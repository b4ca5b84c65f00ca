using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>Writing, and being a buffer writer.</content>
public sealed partial class PooledMemoryStream
{
    /// <inheritdoc/>
    /// <remarks>Copies nothing that was written before. Nothing is written when it throws.</remarks>
    public override void Write(byte[] buffer, int offset, int count)
    {
        ValidateBufferArguments(buffer, offset, count);
        Write(new ReadOnlySpan<byte>(buffer, offset, count));
    }

    /// <inheritdoc/>
    /// <remarks>Copies nothing that was written before. Nothing is written when it throws.</remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public override void Write(ReadOnlySpan<byte> buffer)
    {
        StreamCore core = _core;
        int index = core.Index;
        if (buffer.Length > core.WriteEnd - index)
        {
            WriteSlow(buffer);
            return;
        }

        // The numbers first, as MemoryStream does it: a copy that races a disposal may end when the core serves another stream.
        var room = new Span<byte>(core.Array, index, buffer.Length);
        index += buffer.Length;
        core.Index = index;
        if (index > core.DataEnd)
        {
            core.DataEnd = index;
        }

        buffer.CopyTo(room);
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public override void WriteByte(byte value)
    {
        StreamCore core = _core;
        int index = core.Index;
        byte[] array = core.Array;
        if (index >= core.WriteEnd || (uint)index >= (uint)array.Length)
        {
            WriteByteSlow(value);
            return;
        }

        array[index] = value;
        core.Index = ++index;
        if (index > core.DataEnd)
        {
            core.DataEnd = index;
        }
    }

    /// <summary>Sets the length in bytes. New bytes are zero; memory of a shorter stream is kept for its next growth.</summary>
    /// <param name="value">The length, 0 or more.</param>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative, or above 1 TiB (<see cref="int.MaxValue"/> in a stream over
    /// an array).</exception>
    /// <exception cref="NotSupportedException">The stream is read-only or disposed, or is over memory of the caller and cannot
    /// grow.</exception>
    /// <exception cref="IOException">The length is above the maximum length of the stream's options.</exception>
    /// <exception cref="InsufficientMemoryException">The length needs more memory than the process may have; nothing was
    /// rented.</exception>
    public override void SetLength(long value)
    {
        StreamCore core = _core;
        CheckLength(value, core.IsExpandable ? StreamCore.LongestLength : int.MaxValue);
        CheckWritable(core);
        CheckLength(value, core.LongestPosition);
        using (Change(core))
        {
            core.SetLength(value);
        }
    }

    /// <summary>Rents memory now, so that content of up to <paramref name="capacity"/> bytes needs no more rentals.</summary>
    /// <param name="capacity">Bytes in all, 0 or more. Up to 1 MiB an empty stream gets them in one segment.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
    /// <exception cref="IOException"><paramref name="capacity"/> is above the maximum length of the stream's options.</exception>
    /// <exception cref="NotSupportedException">The stream is read-only, or is over memory of the caller and cannot grow.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    public void Reserve(long capacity)
    {
        if (capacity < 0)
        {
            throw new ArgumentOutOfRangeException(nameof(capacity), capacity, "The capacity must be 0 bytes or more.");
        }

        StreamCore core = Open();
        CheckWritable(core);
        if (core.IsExpandable || capacity > core.Capacity)
        {
            using (Change(core))
            {
                core.Reserve(capacity);
            }
        }
    }

    /// <summary>Adds memory of the caller behind the content without copying it. The position is the new end then.</summary>
    /// <param name="content">What is added. It must not change until the stream is disposed, reset or made shorter; writing over it in
    /// the stream makes a copy first.</param>
    /// <exception cref="IOException">The stream would be longer than the maximum length of its options.</exception>
    /// <exception cref="NotSupportedException">The stream is read-only, or is over memory of the caller and cannot grow.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    /// <remarks>
    /// Room that was rented behind the content and not used is returned. For parts of a few hundred bytes a write is cheaper.
    /// </remarks>
    public void Append(ReadOnlyMemory<byte> content)
    {
        StreamCore core = Open();
        CheckWritable(core);
        using (Change(core))
        {
            core.Append(content);
        }
    }

    /// <summary>Memory to write to at the position; <see cref="Advance"/> makes it content.</summary>
    /// <param name="sizeHint">The least length in bytes; 0 for any that is not empty.</param>
    /// <returns>At least <paramref name="sizeHint"/> bytes, at least one. Valid until the next call of any member.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <exception cref="InsufficientMemoryException"><paramref name="sizeHint"/> is above <see cref="Array.MaxLength"/>.</exception>
    /// <exception cref="IOException">The stream would be longer than the maximum length of its options.</exception>
    /// <exception cref="NotSupportedException">The stream is read-only, or is over memory of the caller that has no such room.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    /// <remarks>
    /// At the end of the content this is the stream's own memory. Elsewhere it is apart from the content and copied by
    /// <see cref="Advance"/>, which may be called several times for what was handed out once.
    /// </remarks>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        StreamCore core = Open();
        CheckWritable(core);
        sizeHint = Math.Max(sizeHint, 1);
        if (core.TryHandOut(sizeHint, out Memory<byte> memory))
        {
            return memory;
        }

        using (Change(core))
        {
            memory = core.HandOut(sizeHint);
        }

        CheckHas(core);
        return memory;
    }

    /// <summary><see cref="GetMemory"/> as a span.</summary>
    /// <inheritdoc cref="GetMemory"/>
    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    /// <summary>Makes the first bytes of the memory that was handed out content; the position moves behind them.</summary>
    /// <param name="count">Bytes, 0 to the length of the memory.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    /// <exception cref="InvalidOperationException">That much was not handed out, or the position has changed since.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        StreamCore core = Open();
        if (!core.TryAdvance(count))
        {
            using (Change(core))
            {
                core.Advance(count);
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void WriteSlow(ReadOnlySpan<byte> buffer)
    {
        StreamCore core = Open();
        if (core.TryWiden(buffer.Length))
        {
            Write(buffer);
            return;
        }

        CheckWritable(core);
        using (Change(core))
        {
            core.Write(buffer);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void WriteByteSlow(byte value) => WriteSlow(new ReadOnlySpan<byte>(in value));

    private static void CheckLength(long value, long most)
    {
        if (value < 0 || value > most)
        {
            throw new ArgumentOutOfRangeException(nameof(value), value, $"The length must be 0 to {most} bytes.");
        }
    }

    private static void CheckWritable(StreamCore core)
    {
        if (!core.IsWritable)
        {
            throw new NotSupportedException("Stream does not support writing.");
        }
    }
}
