namespace Tidepool.Labs;

/// <summary>A kind of in-memory stream; a struct, so that each kind has loops of its own with calls on its exact type.</summary>
internal interface IStreamSubject<TSelf>
    where TSelf : struct, IStreamSubject<TSelf>
{
    /// <summary>An empty stream.</summary>
    static abstract TSelf Open();

    /// <summary>An empty stream with room for a length.</summary>
    static abstract TSelf Open(int capacity);

    /// <summary>The stream as its base.</summary>
    Stream Base { get; }

    /// <summary>Writes a part of an array.</summary>
    void Write(byte[] buffer, int offset, int count);

    /// <summary>Writes one byte.</summary>
    void WriteByte(byte value);

    /// <summary>Goes back to the start.</summary>
    void Rewind();

    /// <summary>Reads into an array.</summary>
    int Read(byte[] buffer, int offset, int count);

    /// <summary>Ends the use.</summary>
    void Close();
}
