// Decoders and parsers.
using System.Buffers.Text;
using System.IO.Compression;

namespace Seeds;

internal static class Decoders
{
    [Seed("decoder")]
    public static string Decode(Stream source, int length)
    {
        byte[] bytes = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            source.ReadExactly(bytes, 0, length);
            return Encoding.UTF8.GetString(bytes, 0, length);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(bytes);
        }
    }

    [Seed("decoder")]
    public static byte[] FromBase64(ReadOnlySpan<byte> text)
    {
        int size = Base64.GetMaxDecodedFromUtf8Length(text.Length);
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        OperationStatus status = Base64.DecodeFromUtf8(text, buffer, out _, out int written);
        byte[] result = status == OperationStatus.Done ? buffer.AsSpan(0, written).ToArray() : [];
        ArrayPool<byte>.Shared.Return(buffer);
        return result;
    }

    [Seed("decoder")]
    public static int Inflate(Stream compressed, Stream plain, int size)
    {
        using var inflater = new DeflateStream(compressed, CompressionMode.Decompress, leaveOpen: true);
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        int total = 0;
        int read;
        while ((read = inflater.Read(buffer, 0, size)) > 0)
        {
            plain.Write(buffer, 0, read);
            total += read;
        }

        ArrayPool<byte>.Shared.Return(buffer);
        return total;
    }

    [Seed("parser")]
    public static double[] ParseColumn(TextReader reader, int longest, int rows)
    {
        char[] line = ArrayPool<char>.Shared.Rent(longest);
        var values = new double[rows];
        for (int row = 0; row < rows; row++)
        {
            int used = 0;
            int next;
            while ((next = reader.Read()) >= 0 && next != '\n')
            {
                line[used++] = (char)next;
            }

            values[row] = double.Parse(line.AsSpan(0, used), provider: null);
        }

        ArrayPool<char>.Shared.Return(line);
        return values;
    }

    [Seed("parser")]
    public static int CountTokens(string text)
    {
        Range[] ranges = ArrayPool<Range>.Shared.Rent(text.Length + 1);
        Span<Range> found = ranges.AsSpan(0, text.Length + 1);
        int count = text.AsSpan().Split(found, ' ');
        int tokens = 0;
        for (int i = 0; i < count; i++)
        {
            (int _, int length) = found[i].GetOffsetAndLength(text.Length);
            tokens += length > 0 ? 1 : 0;
        }

        ArrayPool<Range>.Shared.Return(ranges);
        return tokens;
    }

    [Seed("parser")]
    public static bool TryParseHeader(ReadOnlySpan<byte> data, out int major, out int minor)
    {
        int[] numbers = ArrayPool<int>.Shared.Rent(data.Length);
        int count = 0;
        int value = 0;
        foreach (byte one in data)
        {
            if (one == '.')
            {
                numbers[count++] = value;
                value = 0;
            }
            else
            {
                value = (value * 10) + one - '0';
            }
        }

        numbers[count++] = value;
        if (count < 2)
        {
            ArrayPool<int>.Shared.Return(numbers);
            (major, minor) = (0, 0);
            return false;
        }

        (major, minor) = (numbers[0], numbers[1]);
        ArrayPool<int>.Shared.Return(numbers);
        return true;
    }

    [Seed("parser")]
    public static int ParseLeased(Stream source, int length)
    {
        using BufferLease<byte> lease = BufferPool<byte>.Shared.Rent(length);
        source.ReadExactly(lease.Span);
        ReadOnlySpan<byte> text = lease.Span;
        return Utf8Parser.TryParse(text, out int number, out int _) ? number : 0;
    }
}
