using System.Buffers;

namespace Tidepool.Tests.Streams;

/// <summary>A part of a sequence that a test puts together.</summary>
public sealed class SequencePart : ReadOnlySequenceSegment<byte>
{
    public SequencePart(ReadOnlyMemory<byte> memory, SequencePart? previous)
    {
        Memory = memory;
        if (previous is not null)
        {
            RunningIndex = previous.RunningIndex + previous.Memory.Length;
            previous.Next = this;
        }
    }
}
