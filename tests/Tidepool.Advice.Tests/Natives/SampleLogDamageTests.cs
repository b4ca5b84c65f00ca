using System.Buffers.Binary;
using static Tidepool.Advice.Tests.Natives.LogFiles;

namespace Tidepool.Advice.Tests.Natives;

/// <summary>Whatever a file has: it is read, or refused as damaged.</summary>
public sealed class SampleLogDamageTests
{
    private const int Records = 5;
    private const int RandomFiles = 20_000;

    private static readonly byte[] Whole = Log(
        Record(5, 2, 16, 32),
        Record(1, 8, 0x1000, 0x1000, 0x2000, BinaryPrimitives.ReadInt64LittleEndian("/opt/app"u8)),
        Record(2, 1, 0x1101, 0x1202),
        Record(3, 1, 0x5000, 10, 100, 7),
        Record(4, 7, 0x5000, 20));

    [Fact]
    public void All_kinds_of_records_are_read()
    {
        SampleLog log = SampleLogReader.Read(Whole);
        Assert.Equal([16, 32], log.Classes);
        Assert.Equal(new LoggedModule("/opt/app", 0x1000, 0x1000, 0x2000), Assert.Single(log.Modules));
        Assert.Equal([0x1101UL, 0x1202UL], log.Stacks[1]);
        Assert.Equal(20, Assert.Single(log.Blocks).FreeTime);
    }

    [Fact]
    public void A_file_that_was_cut_anywhere_is_refused()
    {
        for (int length = 0; length < Whole.Length; length++)
        {
            byte[] cut = Whole[..length];
            Assert.Throws<InvalidDataException>(() => SampleLogReader.Read(cut));
        }
    }

    [Fact]
    public void What_was_published_is_read_when_the_rest_is_not_written_yet()
    {
        byte[] file = [.. Whole, .. new byte[4096]]; // the file grows before its records
        Assert.Single(SampleLogReader.Read(file).Blocks);
        int half = Whole.Length - Record(4, 7, 0x5000, 20).Length;
        BinaryPrimitives.WriteInt64LittleEndian(file.AsSpan(UsedAt), half - HeaderBytes);
        Assert.Null(Assert.Single(SampleLogReader.Read(file).Blocks).FreeTime);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(100)]
    [InlineData(0xffffff)]
    public void A_record_whose_length_cannot_be_is_refused(int words)
    {
        byte[] record = Record(3, 1, 0x5000, 10, 100, 7);
        ulong head = BinaryPrimitives.ReadUInt64LittleEndian(record) & ~(0xffffffUL << 8) | (ulong)words << 8;
        BinaryPrimitives.WriteUInt64LittleEndian(record, head);
        Assert.Throws<InvalidDataException>(() => SampleLogReader.Read(Log(record)));
    }

    [Fact]
    public void Records_of_kinds_that_are_not_known_are_passed_over() =>
        Assert.Single(SampleLogReader.Read(Log(Record(99, 5, 1, 2, 3), Record(3, 1, 0x5000, 10, 100, 7))).Blocks);

    [Fact]
    public void The_free_of_a_block_that_was_not_sampled_changes_nothing() =>
        Assert.Empty(SampleLogReader.Read(Log(Record(4, 7, 0x5000, 20))).Blocks);

    [Fact]
    public void An_address_that_comes_again_is_another_block()
    {
        SampleLog log = SampleLogReader.Read(Log(
            Record(3, 1, 0x5000, 10, 100, 7), Record(4, 7, 0x5000, 20), Record(3, 1, 0x5000, 30, 200, 7), Record(4, 8, 0x5000, 40)));
        Assert.Equal(
            [(100L, 20L, 7), (200L, 40L, 8)], log.Blocks.Select(static block => (block.Size, block.FreeTime!.Value, block.FreeThread)));
    }

    [Fact]
    public void Of_logs_of_several_versions_those_of_this_one_are_read()
    {
        byte[] other = [.. Whole];
        BinaryPrimitives.WriteInt32LittleEndian(other.AsSpan(VersionAt), 1000);
        Assert.Single(SampleLogReader.ReadAll([other, Whole, other]));
        var refused = Assert.Throws<InvalidDataException>(() => SampleLogReader.ReadAll([other]));
        Assert.Contains("version 1000", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Garbage_is_read_or_refused_and_breaks_nothing(int seed)
    {
        var random = new Random(seed);
        int refused = 0;
        for (int i = 0; i < RandomFiles; i++)
        {
            byte[] file = [.. Whole];
            for (int changes = random.Next(1, 6); changes > 0; changes--)
            {
                file[random.Next(file.Length)] = (byte)random.Next(256);
            }

            try
            {
                Assert.InRange(SampleLogReader.Read(file).Blocks.Count, 0, Records);
            }
            catch (InvalidDataException)
            {
                refused++;
            }
        }

        Assert.InRange(refused, 1, RandomFiles - 1);
    }
}
