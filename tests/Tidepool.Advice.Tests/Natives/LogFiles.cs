using System.Buffers.Binary;

namespace Tidepool.Advice.Tests.Natives;

/// <summary>Sample logs as the library writes them, by hand.</summary>
internal static class LogFiles
{
    public const int HeaderBytes = 64;
    public const int VersionAt = 16;
    public const int UsedAt = 48;

    /// <summary>A whole file of these records.</summary>
    public static byte[] Log(params byte[][] records)
    {
        byte[] body = [.. records.SelectMany(static record => record)];
        var log = new byte[HeaderBytes + body.Length];
        "tidepool-samples"u8.CopyTo(log);
        BinaryPrimitives.WriteInt32LittleEndian(log.AsSpan(VersionAt), 1);
        BinaryPrimitives.WriteInt32LittleEndian(log.AsSpan(VersionAt + sizeof(int)), HeaderBytes);
        BinaryPrimitives.WriteInt64LittleEndian(log.AsSpan(UsedAt), body.Length);
        body.CopyTo(log, HeaderBytes);
        return log;
    }

    /// <summary>One record.</summary>
    /// <param name="kind">1 module, 2 stack, 3 allocation, 4 release, 5 classes.</param>
    /// <param name="argument">The upper half of its first word.</param>
    /// <param name="words">The words behind the first.</param>
    public static byte[] Record(int kind, int argument, params long[] words)
    {
        ulong head = (uint)kind | (ulong)(uint)(words.Length + 1) << 8 | (ulong)(uint)argument << 32;
        return [.. new[] { (long)head }.Concat(words).SelectMany(static word => BitConverter.GetBytes(word))];
    }
}
