using System.Buffers.Binary;
using System.Text;

namespace Tidepool.Advice;

/// <summary>Reads the log that <c>native/src/profile/sample_log.h</c> describes. Pure.</summary>
internal static class SampleLogReader
{
    private const int Version = 1;
    private const int WordBytes = 8;
    private const int ModuleWords = 3;
    private const int AllocationWords = 4;
    private const int ReleaseWords = 2;

    private enum Kind
    {
        Module = 1,
        Stack = 2,
        Allocation = 3,
        Release = 4,
        Classes = 5,
    }

    /// <summary>Reads those of several files that can be read. A file whose process was killed before its log began says nothing.</summary>
    /// <param name="files">The bytes of the files.</param>
    /// <exception cref="InvalidDataException">Some are damaged, or of another version of the library, and none is left.</exception>
    public static IReadOnlyList<SampleLog> ReadAll(IEnumerable<byte[]> files)
    {
        List<SampleLog> logs = [];
        InvalidDataException? first = null;
        foreach (byte[] file in files.Where(static file => IsBegun(file)))
        {
            try
            {
                logs.Add(Read(file));
            }
            catch (InvalidDataException failure)
            {
                first ??= failure;
            }
        }

        return logs.Count == 0 && first is not null ? throw new InvalidDataException(first.Message, first) : logs;
    }

    /// <summary>Reads a log; the process may still write to it.</summary>
    /// <param name="file">The bytes of the file.</param>
    /// <exception cref="InvalidDataException">It is no log, or one of another version of the library.</exception>
    public static SampleLog Read(ReadOnlySpan<byte> file)
    {
        if (file.Length < 64 || !IsBegun(file))
        {
            throw new InvalidDataException("it is no log of samples.");
        }

        int version = BinaryPrimitives.ReadInt32LittleEndian(file[16..]);
        if (version != Version)
        {
            throw new InvalidDataException($"it is of version {version} of the format, and this version of Tidepool reads {Version}.");
        }

        int header = BinaryPrimitives.ReadInt32LittleEndian(file[20..]);
        long used = LongOf(file, 6);
        if (header < 64 || used < 0 || used > file.Length - (long)header)
        {
            throw new InvalidDataException("its header is damaged.");
        }

        var body = new Body();
        body.Read(file.Slice(header, (int)used));
        return new SampleLog
        {
            MeanBytes = LongOf(file, 3),
            Start = LongOf(file, 4),
            Process = (int)LongOf(file, 5),
            Lost = LongOf(file, 7),
            Blocks = body.Blocks,
            Stacks = body.Stacks,
            Modules = body.Modules,
            Classes = body.Classes,
        };
    }

    private static bool IsBegun(ReadOnlySpan<byte> file) => file.StartsWith("tidepool-samples"u8);

    private static long LongOf(ReadOnlySpan<byte> words, int index) => BinaryPrimitives.ReadInt64LittleEndian(words[(index * WordBytes)..]);

    /// <summary>The records, one after another.</summary>
    private sealed class Body
    {
        private readonly Dictionary<long, LoggedBlock> _live = [];

        public List<LoggedBlock> Blocks { get; } = [];

        public Dictionary<int, ulong[]> Stacks { get; } = [];

        public List<LoggedModule> Modules { get; } = [];

        public IReadOnlyList<int> Classes { get; private set; } = [];

        public void Read(ReadOnlySpan<byte> records)
        {
            while (records.Length >= WordBytes)
            {
                ulong head = BinaryPrimitives.ReadUInt64LittleEndian(records);
                int bytes = (int)(head >> 8 & 0xffffff) * WordBytes;
                if (bytes < WordBytes || bytes > records.Length)
                {
                    throw new InvalidDataException("a record is longer than the log.");
                }

                var kind = (Kind)(head & 0xff);
                int argument = (int)(head >> 32);
                ReadOnlySpan<byte> words = records[WordBytes..bytes];
                if (words.Length < BytesOf(kind, argument))
                {
                    throw new InvalidDataException("a record is shorter than its kind.");
                }

                Add(kind, argument, words);
                records = records[bytes..];
            }
        }

        /// <summary>The least bytes of a record behind its first word.</summary>
        private static long BytesOf(Kind kind, int argument) => kind switch
        {
            Kind.Module => argument < 0 ? long.MaxValue : ModuleWords * WordBytes + (long)argument,
            Kind.Allocation => AllocationWords * WordBytes,
            Kind.Release => ReleaseWords * WordBytes,
            _ => 0,
        };

        private void Add(Kind kind, int argument, ReadOnlySpan<byte> words)
        {
            switch (kind)
            {
                case Kind.Module:
                    Modules.Add(new LoggedModule(
                        Encoding.UTF8.GetString(words.Slice(ModuleWords * WordBytes, argument)),
                        (ulong)LongOf(words, 0),
                        (ulong)LongOf(words, 1),
                        (ulong)LongOf(words, 2)));
                    break;
                case Kind.Stack:
                    Stacks[argument] = FramesOf(words);
                    break;
                case Kind.Allocation:
                    Allocate(argument, words);
                    break;
                case Kind.Release when _live.Remove(LongOf(words, 0), out LoggedBlock? block):
                    block.FreeTime = LongOf(words, 1);
                    block.FreeThread = argument;
                    break;
                case Kind.Classes:
                    Classes = [.. FramesOf(words).Select(static size => (int)size)];
                    break;
            }
        }

        private void Allocate(int stack, ReadOnlySpan<byte> words)
        {
            long address = LongOf(words, 0);
            var block = new LoggedBlock
            {
                Stack = stack,
                Time = LongOf(words, 1),
                Size = LongOf(words, 2),
                Thread = (int)LongOf(words, 3),
                IsFollowed = address != 0,
            };
            Blocks.Add(block);
            if (address != 0)
            {
                _live[address] = block;
            }
        }

        private static ulong[] FramesOf(ReadOnlySpan<byte> words)
        {
            var frames = new ulong[words.Length / WordBytes];
            for (int i = 0; i < frames.Length; i++)
            {
                frames[i] = (ulong)LongOf(words, i);
            }

            return frames;
        }
    }
}
