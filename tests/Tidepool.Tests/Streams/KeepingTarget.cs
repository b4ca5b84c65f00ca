namespace Tidepool.Tests.Streams;

/// <summary>A target that keeps a reference to every array that it is given.</summary>
public sealed class KeepingTarget : TargetStream
{
    public List<byte[]> Arrays { get; } = [];

    public override void Write(byte[] buffer, int offset, int count) => Arrays.Add(buffer);
}
