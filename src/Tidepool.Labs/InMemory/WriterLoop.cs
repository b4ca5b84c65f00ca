using System.Buffers;
using System.Text.Json;

namespace Tidepool.Labs;

/// <summary>The loops of one kind of buffer writer.</summary>
internal static class WriterLoop<T>
    where T : struct, IWriterSubject<T>
{
    private static readonly JsonWriterOptions Unchecked = new() { SkipValidation = true };

    /// <summary>Fills writers with bytes.</summary>
    public static void Run(int operations, int length, int part)
    {
        for (int i = 0; i < operations; i++)
        {
            T subject = T.Open();
            var writer = subject.Writer;
            for (int written = 0; written < length; written += part)
            {
                int count = Math.Min(part, length - written);
                writer.GetSpan(count)[..count].Fill((byte)i);
                writer.Advance(count);
            }

            Check(subject.Close(), length);
        }
    }

    /// <summary>Fills writers with JSON.</summary>
    public static void RunJson(int operations, int length)
    {
        for (int i = 0; i < operations; i++)
        {
            T subject = T.Open();
            using (var json = new Utf8JsonWriter(subject.Writer, Unchecked))
            {
                json.WriteStartArray();
                while (json.BytesCommitted + json.BytesPending < length)
                {
                    json.WriteStartObject();
                    json.WriteNumber("id"u8, i);
                    json.WriteString("text"u8, "rent, use, return"u8);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
            }

            Check(subject.Close(), length);
        }
    }

    private static void Check(long written, int length)
    {
        if (written < length)
        {
            throw new InvalidOperationException($"{written} bytes came out of {length}.");
        }
    }
}
