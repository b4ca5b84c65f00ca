// Pooled writers and serializers.
using System.Buffers.Binary;
using System.Globalization;

namespace Seeds;

internal static class Writers
{
    [Seed("pooled writer")]
    public static void WriteRecord(Stream target, ReadOnlySpan<char> name, long value)
    {
        int size = Encoding.UTF8.GetMaxByteCount(name.Length) + 12;
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        int used = Encoding.UTF8.GetBytes(name, buffer.AsSpan(4));
        BinaryPrimitives.WriteInt32LittleEndian(buffer, used);
        BinaryPrimitives.WriteInt64LittleEndian(buffer.AsSpan(4 + used, 8), value);
        target.Write(buffer, 0, used + 12);
        ArrayPool<byte>.Shared.Return(buffer);
    }

    [Seed("pooled writer")]
    public static string Join(ReadOnlySpan<string> parts, char separator)
    {
        int length = 0;
        foreach (string part in parts)
        {
            length += part.Length + 1;
        }

        char[]? rented = null;
        Span<char> space = length <= 256 ? stackalloc char[256] : (rented = ArrayPool<char>.Shared.Rent(length));
        int used = 0;
        foreach (string part in parts)
        {
            part.CopyTo(space[used..]);
            used += part.Length;
            space[used++] = separator;
        }

        string result = space[..used].ToString();
        if (rented != null)
        {
            ArrayPool<char>.Shared.Return(rented);
        }

        return result;
    }

    [Seed("pooled writer")]
    public static int WriteTo(IBufferWriter<byte> target, long[] values)
    {
        byte[] scratch = ArrayPool<byte>.Shared.Rent(values.Length * 8);
        try
        {
            Span<byte> rest = scratch;
            foreach (long value in values)
            {
                BinaryPrimitives.WriteInt64BigEndian(rest, value);
                rest = rest[8..];
            }

            target.Write(scratch.AsSpan(0, values.Length * 8));
            return values.Length * 8;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(scratch);
        }
    }

    [Seed("serializer")]
    public static byte[] Serialize(BufferPool<byte> pool, IReadOnlyList<int> numbers)
    {
        BufferLease<byte> lease = pool.Rent(numbers.Count * 4);
        Span<byte> space = lease.Span;
        for (int i = 0; i < numbers.Count; i++)
        {
            BinaryPrimitives.WriteInt32LittleEndian(space[(i * 4)..], numbers[i]);
        }

        byte[] result = lease.Span.ToArray();
        lease.Return();
        return result;
    }

    [Seed("serializer")]
    public static string ToHex(ReadOnlySpan<byte> bytes)
    {
        char[] text = ArrayPool<char>.Shared.Rent(bytes.Length * 2);
        Span<char> rest = text.AsSpan(0, bytes.Length * 2);
        foreach (byte one in bytes)
        {
            one.TryFormat(rest, out int count, "x2", CultureInfo.InvariantCulture);
            rest = rest[count..];
        }

        string result = new(text, 0, bytes.Length * 2);
        ArrayPool<char>.Shared.Return(text);
        return result;
    }

    [Seed("serializer")]
    public static string Build(Microsoft.Extensions.ObjectPool.ObjectPool<StringBuilder> pool, IEnumerable<string> lines)
    {
        StringBuilder text = pool.Get();
        foreach (string line in lines)
        {
            text.Append(line).Append('\n');
        }

        string result = text.ToString();
        pool.Return(text);
        return result;
    }
}
