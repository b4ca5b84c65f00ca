using System.Buffers;

namespace Tidepool.Labs;

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
