using System.Buffers.Binary;
using static Tidepool.Advice.Tests.Natives.LogFiles;

namespace Tidepool.Advice.Tests.Natives;

public sealed class SampleLogReaderTests
{
    private static readonly byte[] Good = Log(Record(3, 0, 0x1000, 7, 100, 1));

    [Fact]
    public void A_log_is_read()
    {
        SampleLog log = SampleLogReader.Read(Log(Record(3, 0, 0x1000, 7, 100, 1), Record(4, 2, 0x1000, 9)));
        LoggedBlock block = Assert.Single(log.Blocks);
        Assert.Equal((7L, 100L, 9L, 2), (block.Time, block.Size, block.FreeTime!.Value, block.FreeThread));
    }

    [Fact]
    public void Files_of_processes_that_ended_before_their_log_began_are_left_out()
    {
        Assert.Single(SampleLogReader.ReadAll([[], new byte[4096], Good]));
        Assert.Empty(SampleLogReader.ReadAll([[], new byte[4096]]));
    }

    [Fact]
    public void A_damaged_log_counts_only_when_no_other_is_left()
    {
        byte[] damaged = Log(Record(3, 0, 0x1000));
        Assert.Single(SampleLogReader.ReadAll([damaged, Good]));
        Assert.Throws<InvalidDataException>(() => SampleLogReader.ReadAll([damaged, new byte[4096]]));
    }

    [Theory]
    [InlineData(long.MaxValue)]
    [InlineData(-1)]
    [InlineData(1000)]
    public void A_log_that_claims_more_than_its_file_has_is_damaged(long used)
    {
        byte[] log = [.. Good];
        BinaryPrimitives.WriteInt64LittleEndian(log.AsSpan(UsedAt), used);
        Assert.Contains("header", Assert.Throws<InvalidDataException>(() => SampleLogReader.Read(log)).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1, 0)] // a module without its addresses
    [InlineData(1, 9, 1L, 2L, 3L, 4L)] // a path that is longer than its record
    [InlineData(1, -1, 1L, 2L, 3L, 4L)]
    [InlineData(3, 0, 1L, 2L, 3L)]
    [InlineData(4, 0, 1L)]
    public void A_record_that_is_shorter_than_its_kind_is_damaged(int kind, int argument, params long[] words) => Assert.Contains(
        "shorter",
        Assert.Throws<InvalidDataException>(() => SampleLogReader.Read(Log(Record(kind, argument, words)))).Message,
        StringComparison.Ordinal);

    [Fact]
    public void Every_file_of_a_folder_is_read_and_no_link()
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("tidepool-test-");
        DirectoryInfo elsewhere = Directory.CreateTempSubdirectory("tidepool-test-");
        try
        {
            string target = Path.Combine(elsewhere.FullName, "log.9");
            File.WriteAllBytes(target, Good);
            foreach (string name in (string[])["log.7", "log.7.1", "log.8"])
            {
                File.WriteAllBytes(Path.Combine(folder.FullName, name), Good);
            }

            File.CreateSymbolicLink(Path.Combine(folder.FullName, "log.9"), target);
            Assert.Equal(3, NativeSampler.LogsIn(folder).Count);
        }
        finally
        {
            folder.Delete(recursive: true);
            elsewhere.Delete(recursive: true);
        }
    }
}
