using System.Text.RegularExpressions;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Streams;

/// <summary>
/// The list of what differs from <see cref="MemoryStream"/> on purpose, in <c>docs/streams.md</c>: one test for each line, which shows
/// what either does. What is not in the list is compared by <see cref="RandomComparisonTests"/>.
/// </summary>
public sealed partial class StreamDifferenceTests
{
    private static readonly byte[] Data = TestData.Random(3_000_000);

    [Fact]
    public void Difference_1_the_content_is_gone_after_dispose()
    {
        (MemoryStream theirs, PooledMemoryStream ours) = Written(100);
        theirs.Dispose();
        ours.Dispose();
        Assert.Equal(Data[..100], theirs.ToArray());
        Assert.True(theirs.TryGetBuffer(out _));
        Assert.Throws<ObjectDisposedException>(ours.ToArray);
        Assert.Throws<ObjectDisposedException>(ours.GetBuffer);
        Assert.False(ours.TryGetBuffer(out _));
    }

    [Fact]
    public void Difference_2_a_stream_over_an_array_alone_is_read_only()
    {
        using var theirs = new MemoryStream(new byte[3]);
        using var ours = new PooledMemoryStream(new byte[3]);
        using var writable = new PooledMemoryStream(new byte[3], writable: true);
        Assert.Equal((true, false, true), (theirs.CanWrite, ours.CanWrite, writable.CanWrite));
    }

    [Fact]
    public void Difference_3_positions_and_lengths_above_2_GiB_work()
    {
        (MemoryStream theirs, PooledMemoryStream ours) = Written(0);
        const long Place = 1L << 32;
        Assert.Throws<ArgumentOutOfRangeException>("value", () => theirs.Position = Place);
        ours.Position = Place;
        Assert.Equal(Place + 1, ours.Seek(1, SeekOrigin.Current));
        Assert.Throws<ArgumentOutOfRangeException>("value", () => ours.Position = (1L << 40) + 1);
        ours.CapacityLong = Place;
        Assert.Equal((int.MaxValue, Place), (ours.Capacity, ours.CapacityLong));

        // At the last place that theirs can have, WriteByte of .NET 10 misses the check that its other writes make.
        theirs.Position = int.MaxValue;
        Assert.Throws<IOException>(() => theirs.Write(Data, 0, 1));
        Assert.Throws<IndexOutOfRangeException>(() => theirs.WriteByte(1));
        ours.Position = 1L << 40;
        Assert.Throws<IOException>(() => ours.WriteByte(1));
        ours.Dispose();
    }

    [Fact]
    public void Difference_4_the_array_of_GetBuffer_may_be_longer_than_the_capacity_and_is_the_pools()
    {
        (MemoryStream theirs, PooledMemoryStream ours) = Written(100);
        Assert.Equal((256, 256), (theirs.Capacity, theirs.GetBuffer().Length));
        Assert.Equal(256, ours.Capacity);
        Assert.InRange(ours.GetBuffer().Length, 257, int.MaxValue);
        Assert.Equal(Data[..100], ours.GetBuffer()[..100]);
        ours.Dispose();
    }

    [Fact]
    public async Task Difference_5_a_copy_is_written_in_parts_and_must_find_the_stream_as_it_was()
    {
        foreach (MemoryStream stream in new[] { new MemoryStream(), new PooledMemoryStream() })
        {
            stream.Write(Data.AsSpan(0, 100_000)); // two segments: each write asks for more than there is
            stream.Write(Data.AsSpan(100_000));
            bool isOurs = stream is PooledMemoryStream;
            var untouched = new Shortening(stream, shortenAt: 0);
            stream.Position = 0;
            stream.CopyTo(untouched);
            Assert.Equal(Data.Length, untouched.Bytes);
            Assert.Equal(isOurs, untouched.Writes > 1);

            var shortening = new Shortening(stream, shortenAt: 1);
            Task Copy()
            {
                stream.Position = 0;
                return stream.CopyToAsync(shortening);
            }

            if (isOurs)
            {
                await Assert.ThrowsAsync<InvalidOperationException>(Copy);
                Assert.InRange(shortening.Bytes, 1, Data.Length - 1);
            }
            else
            {
                await Copy();
                Assert.Equal(Data.Length, shortening.Bytes);
            }

            Assert.Equal((5, 5), (stream.Length, stream.Position));
            Assert.Equal(Data[..5], stream.ToArray());
            await stream.DisposeAsync();
        }
    }

    [Fact]
    public void Difference_6_the_array_of_TryGetBuffer_has_room_for_the_content()
    {
        using var theirs = new MemoryStream(100_000);
        using var ours = new PooledMemoryStream(100_000);
        foreach (MemoryStream stream in new[] { theirs, ours })
        {
            stream.Write(Data, 0, 10);
            Assert.True(stream.TryGetBuffer(out ArraySegment<byte> content));
            Assert.Equal(Data[..10], content.ToArray());
            Assert.Equal(stream == theirs, content.Array!.Length >= 100_000);
            Assert.InRange(stream.GetBuffer().Length, 100_000, int.MaxValue);
        }
    }

    [Fact]
    public void Difference_7_what_a_thread_has_in_hand_when_another_disposes_the_stream_is_the_next_renters()
    {
        (MemoryStream theirs, PooledMemoryStream ours) = Written(100);
        byte[] theirMemory = theirs.GetBuffer();
        byte[] ourMemory = ours.GetBuffer();
        theirs.Dispose();
        ours.Dispose();
        bool isReached = false;
        for (int i = 0; i < 2 * Magazine.RestingPlaces; i++)
        {
            using var next = new PooledMemoryStream();
            next.WriteByte(1);
            (theirMemory[0], ourMemory[0]) = (9, 9); // a late write
            isReached |= next.ToArray()[0] == 9;
        }

        Assert.True(isReached);
        Assert.Equal(9, theirs.ToArray()[0]);
    }

    [Fact]
    public void The_list_in_the_docs_and_these_tests_have_the_same_numbers()
    {
        DirectoryInfo root = new(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(root.FullName, "Tidepool.slnx")))
        {
            root = root.Parent!;
        }

        string page = File.ReadAllText(Path.Combine(root.FullName, "docs", "streams.md"));
        int start = page.IndexOf("## What differs, in full", StringComparison.Ordinal);
        string list = page[start..page.IndexOf("## Without any allocation", StringComparison.Ordinal)];
        IEnumerable<string> lines = NumberOfLine().Matches(list).Select(m => m.Groups[1].Value);
        IEnumerable<string> tests = typeof(StreamDifferenceTests).GetMethods()
            .Where(m => m.Name.StartsWith("Difference_", StringComparison.Ordinal)).Select(m => m.Name.Split('_')[1]);
        Assert.Equal(lines.Order(), tests.Order());
        Assert.NotEmpty(lines);
    }

    private static (MemoryStream Theirs, PooledMemoryStream Ours) Written(int length)
    {
        var theirs = new MemoryStream();
        var ours = new PooledMemoryStream();
        theirs.Write(Data, 0, length);
        ours.Write(Data, 0, length);
        return (theirs, ours);
    }

    [GeneratedRegex(@"^(\d+)\. \*\*", RegexOptions.Multiline)]
    private static partial Regex NumberOfLine();

    /// <summary>A target that shortens the source when it is written to for the n-th time.</summary>
    private sealed class Shortening(MemoryStream source, int shortenAt) : TargetStream
    {
        public int Writes { get; private set; }

        public long Bytes { get; private set; }

        public override void Write(byte[] buffer, int offset, int count)
        {
            Bytes += count;
            if (++Writes == shortenAt)
            {
                source.SetLength(5);
            }
        }
    }
}
