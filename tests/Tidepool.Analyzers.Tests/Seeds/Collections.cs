// Caches, iterators, numeric code and hashing.
using System.Security.Cryptography;

namespace Seeds;

internal sealed class Collections
{
    private static readonly ArrayPool<int> s_numbers = ArrayPool<int>.Create(1 << 20, 4);
    private readonly Dictionary<string, string> _cache = [];
    private byte[]? _window;

    [Seed("cache")]
    public string Intern(ReadOnlySpan<byte> utf8)
    {
        char[] text = ArrayPool<char>.Shared.Rent(utf8.Length);
        int count = Encoding.UTF8.GetChars(utf8, text);
        if (!_cache.GetAlternateLookup<ReadOnlySpan<char>>().TryGetValue(text.AsSpan(0, count), out string? known))
        {
            known = new string(text, 0, count);
            _cache.Add(known, known);
        }

        ArrayPool<char>.Shared.Return(text);
        return known;
    }

    [Seed("cache")]
    public void Resize(int length)
    {
        if (_window is not null)
        {
            ArrayPool<byte>.Shared.Return(_window);
            _window = null;
        }

        if (length > 0)
        {
            _window = ArrayPool<byte>.Shared.Rent(length);
        }
    }

    [Seed("cache")]
    public void Drop()
    {
        if (_window != null)
        {
            ArrayPool<byte>.Shared.Return(_window);
            _window = null;
        }
    }

    [Seed("cache")]
    public void Replace(byte[] window)
    {
        byte[]? old = _window;
        _window = window;
        if (old != null)
        {
            ArrayPool<byte>.Shared.Return(old);
        }
    }

    [Seed("cache")]
    public int Close()
    {
        byte[] window = _window ?? throw new InvalidOperationException("It is closed.");
        int length = window.Length;
        ArrayPool<byte>.Shared.Return(_window);
        _window = null;
        return length;
    }

    [Seed("cache")]
    public static int Evict(int[] ages, int oldest)
    {
        int[] victims = s_numbers.Rent(ages.Length);
        int count = 0;
        for (int i = 0; i < ages.Length; i++)
        {
            if (ages[i] >= oldest)
            {
                victims[count++] = i;
            }
        }

        for (int i = 0; i < count; i++)
        {
            ages[victims[i]] = 0;
        }

        s_numbers.Return(victims);
        return count;
    }

    [Seed("iterator")]
    public static IEnumerable<int> Words(Stream source, int size)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        try
        {
            int read;
            while ((read = source.Read(buffer, 0, size)) > 0)
            {
                for (int i = 0; i < read; i++)
                {
                    yield return buffer[i];
                }
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    [Seed("iterator")]
    public static IEnumerable<string> Lines(TextReader reader, int longest)
    {
        using BufferLease<char> lease = BufferPool<char>.Shared.Rent(longest);
        int used = 0;
        int next;
        while ((next = reader.Read()) >= 0)
        {
            if (next == '\n')
            {
                yield return new string(lease.Span[..used]);
                used = 0;
            }
            else
            {
                lease.Span[used++] = (char)next;
            }
        }
    }

    [Seed("iterator")]
    public static async IAsyncEnumerable<byte[]> ChunksAsync(Stream source, int size)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(size);
        int read;
        while ((read = await source.ReadAsync(buffer.AsMemory(0, size))) > 0)
        {
            yield return buffer.AsSpan(0, read).ToArray();
        }

        ArrayPool<byte>.Shared.Return(buffer);
    }

    [Seed("numeric")]
    public static double Median(ReadOnlySpan<double> values)
    {
        double[] sorted = ArrayPool<double>.Shared.Rent(values.Length);
        Span<double> used = sorted.AsSpan(0, values.Length);
        values.CopyTo(used);
        used.Sort();
        double median = used[used.Length / 2];
        ArrayPool<double>.Shared.Return(sorted);
        return median;
    }

    [Seed("numeric")]
    public static int Grow(Stream source, int start)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(start);
        int total = 0;
        int read;
        while ((read = source.Read(buffer, total, buffer.Length - total)) > 0)
        {
            total += read;
            if (total == buffer.Length)
            {
                byte[] larger = ArrayPool<byte>.Shared.Rent(total + start);
                buffer.AsSpan(0, total).CopyTo(larger);
                ArrayPool<byte>.Shared.Return(buffer);
                buffer = larger;
            }
        }

        ArrayPool<byte>.Shared.Return(buffer);
        return total;
    }

    [Seed("hash")]
    [Secret]
    public static byte[] Sign(HMACSHA256 keyed, ReadOnlySpan<char> message)
    {
        byte[] bytes = ArrayPool<byte>.Shared.Rent(Encoding.UTF8.GetMaxByteCount(message.Length));
        int count = Encoding.UTF8.GetBytes(message, bytes);
        byte[] hash = keyed.ComputeHash(bytes, 0, count);
        ArrayPool<byte>.Shared.Return(bytes, clearArray: true);
        return hash;
    }

    [Seed("hash")]
    public static byte[] HashFile(Stream file, int length)
    {
        byte[] content = ArrayPool<byte>.Shared.Rent(length);
        file.ReadExactly(content.AsSpan(0, length));
        byte[] hash = SHA256.HashData(content.AsSpan(0, length));
        ArrayPool<byte>.Shared.Return(content);
        return hash;
    }

    [Seed("hash")]
    [Secret]
    public static bool Matches(ReadOnlySpan<byte> given, Stream stored)
    {
        byte[] expected = ArrayPool<byte>.Shared.Rent(given.Length);
        try
        {
            stored.ReadExactly(expected, 0, given.Length);
            return CryptographicOperations.FixedTimeEquals(given, expected.AsSpan(0, given.Length));
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(expected, clearArray: true);
        }
    }

    [Seed("object pool")]
    public static string Report(ObjectPool<StringBuilder> pool, IEnumerable<int> values)
    {
        StringBuilder text = pool.RentRaw();
        foreach (int value in values)
        {
            text.Append(value).Append(' ');
        }

        string result = text.ToString();
        pool.ReturnRaw(text);
        return result;
    }

    [Seed("object pool")]
    public static int Leased(ObjectPool<List<int>> pool, IEnumerable<int> values)
    {
        ObjectLease<List<int>> lease = pool.Rent();
        lease.Value.AddRange(values);
        lease.Value.Sort();
        int median = lease.Value[lease.Value.Count / 2];
        lease.Return();
        return median;
    }

    [Seed("object pool")]
    public static string Text(IEnumerable<string> parts)
    {
        using PooledStringBuilder text = PooledStringBuilder.Rent();
        foreach (string part in parts)
        {
            text.Builder.Append(part);
        }

        return text.Builder.ToString();
    }

    [Seed("object pool")]
    public static byte[] Stream(ReadOnlySpan<byte> content)
    {
        PooledMemoryStream stream = PooledMemoryStream.Rent();
        stream.Write(content);
        byte[] copy = stream.ToArray();
        stream.Dispose();
        return copy;
    }
}
