namespace Tidepool;

/// <content>Copying content out of segments and into them.</content>
internal sealed partial class StreamCore
{
    /// <summary>The most bytes that <see cref="Copy"/> copies by one call.</summary>
    internal const int MaxCopy = 256 << 10;

    /// <summary>Copies content; the caller has checked that there is enough of it.</summary>
    internal void CopyOut(long start, Span<byte> target)
    {
        for (int i = Find(start); target.Length > 0; i++)
        {
            ReadOnlySpan<byte> part = _segments[i].Span[(int)(start - _segments[i].Start)..];
            part = part[..Math.Min(part.Length, target.Length)];
            Copy(part, target);
            target = target[part.Length..];
            start += part.Length;
        }
    }

    /// <summary>Copies into memory that is there and may be written to. The source may be a part of it.</summary>
    internal void CopyIn(long start, ReadOnlySpan<byte> source)
    {
        for (int i = Find(start); source.Length > 0; i++)
        {
            Span<byte> part = _segments[i].Writable[(int)(start - _segments[i].Start)..];
            part = part[..Math.Min(part.Length, source.Length)];
            if (part.Length < source.Length && source.Overlaps(part))
            {
                // This part would overwrite what belongs into the segments behind it. Those cannot touch the source, which lies in this
                // segment.
                CopyIn(start + part.Length, source[part.Length..]);
                source = source[..part.Length];
            }

            Copy(source[..part.Length], part);
            source = source[part.Length..];
            start += part.Length;
        }
    }

    /// <summary>Copies between memory that may overlap.</summary>
    /// <remarks>
    /// In parts: the C library of Linux copies what fits into a core's cache by an instruction that does not read the lines it is about
    /// to overwrite, and what does not by a loop that does. A copy of 1 MiB at once takes 1.17 times as long as one in parts.
    /// </remarks>
    internal static void Copy(ReadOnlySpan<byte> source, Span<byte> target)
    {
        if (source.Length > MaxCopy && !source.Overlaps(target))
        {
            do
            {
                source[..MaxCopy].CopyTo(target);
                source = source[MaxCopy..];
                target = target[MaxCopy..];
            }
            while (source.Length > MaxCopy);
        }

        source.CopyTo(target);
    }

    /// <summary>Zeroes memory that is there and may be written to.</summary>
    internal void Zero(long start, long end)
    {
        for (int i = Find(start); start < end; i++)
        {
            Span<byte> part = _segments[i].Writable[(int)(start - _segments[i].Start)..];
            part = part[..(int)Math.Min(part.Length, end - start)];
            part.Clear();
            start += part.Length;
        }
    }
}
