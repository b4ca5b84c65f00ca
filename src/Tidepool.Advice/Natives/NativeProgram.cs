using System.Buffers.Binary;

namespace Tidepool.Advice;

/// <summary>Tells native programs from those of .NET, by their files.</summary>
internal static class NativeProgram
{
    private const int ProgramHeaderInterpreter = 3;
    private const int BlockBytes = 1 << 20;
    private const int ClassIndex = 4;
    private const byte Class64 = 2;

    /// <summary>Programs that start another, which their later words name.</summary>
    private static readonly string[] Launchers =
    [
        "env", "nice", "ionice", "chrt", "taskset", "numactl", "nohup", "setsid", "stdbuf", "time", "timeout", "sudo", "sh", "bash", "dash",
        "zsh",
    ];

    /// <summary>What every host of .NET has in its file, and what native code that was compiled ahead of time exports.</summary>
    private static ReadOnlySpan<byte> BundleMark =>
    [
        0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
        0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae,
    ];

    /// <summary>
    /// Whether a command starts a native program: a file of machine code (ELF) that is no host of .NET, and does not start one as
    /// <c>env</c>, <c>nice</c> or a shell do.
    /// </summary>
    /// <param name="words">A command line. Its first word is a path, or a name that is looked for on the path.</param>
    public static bool IsNative(IReadOnlyList<string> words) =>
        OperatingSystem.IsLinux() && FileOf(words[0]) is { } file && IsElf(HeadOf(file)) && !IsDotnet(words[0])
            && !(Launchers.Contains(Path.GetFileName(words[0])) && words.Skip(1).SelectMany(PartsOf).Any(IsDotnet));

    /// <summary>Whether the file of a process is a native program, as far as it may be read. It may load a runtime of .NET.</summary>
    /// <param name="id">The process.</param>
    public static bool IsNativeProcess(int id)
    {
        string file = $"/proc/{id}/exe"; // opens the file of the process, also where another has its name meanwhile
        return OperatingSystem.IsLinux() && IsElf(HeadOf(file)) && File.ResolveLinkTarget(file, returnFinalTarget: false)?.Name != "dotnet"
            && !IsDotnetFile(file);
    }

    /// <summary>A word as it is, and what a shell would make of it.</summary>
    private static IEnumerable<string> PartsOf(string word) =>
        [word, .. word.Split([' ', '\t', '\n', ';', '&', '|', '(', ')', '"', '\''], StringSplitOptions.RemoveEmptyEntries)];

    /// <summary>Whether a word is <c>dotnet</c>, or names a host of .NET or native code that was compiled from .NET.</summary>
    private static bool IsDotnet(string word)
    {
        if (Path.GetFileName(word) == "dotnet")
        {
            return true;
        }

        return FileOf(word) is { } file && IsElf(HeadOf(file)) && (Path.GetFileName(file) == "dotnet" || IsDotnetFile(file));
    }

    /// <summary>Whether a file is a host of .NET but <c>dotnet</c>, or native code that was compiled from .NET.</summary>
    private static bool IsDotnetFile(string file) => Contains(file, BundleMark) || Contains(file, "DotNetRuntimeDebugHeader"u8);

    /// <summary>Whether the loader starts the program, so that a library can be preloaded. Scripts have an interpreter.</summary>
    /// <param name="command">The first word of a command line.</param>
    public static bool CanPreload(string command)
    {
        if (FileOf(command) is not { } file || HeadOf(file) is not { Length: >= 64 } head || !IsElf(head))
        {
            return true; // the start itself will say what is wrong, or an interpreter is started
        }

        if (head[ClassIndex] != Class64)
        {
            return false; // the library has 64 bits
        }

        using FileStream stream = File.OpenRead(file);
        long offset = BinaryPrimitives.ReadInt64LittleEndian(head.AsSpan(32));
        int size = BinaryPrimitives.ReadInt16LittleEndian(head.AsSpan(54));
        int count = BinaryPrimitives.ReadInt16LittleEndian(head.AsSpan(56));
        Span<byte> type = stackalloc byte[4];
        for (int i = 0; i < count; i++)
        {
            long position = offset + (long)i * size;
            if (position < 0 || position > stream.Length - type.Length)
            {
                return false;
            }

            stream.Position = position;
            stream.ReadExactly(type);
            if (BinaryPrimitives.ReadInt32LittleEndian(type) == ProgramHeaderInterpreter)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>The file that a command starts; null when there is none.</summary>
    public static string? FileOf(string command)
    {
        string[] candidates = command.Contains('/', StringComparison.Ordinal)
            ? [Path.GetFullPath(command)]
            : [.. (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':', StringSplitOptions.RemoveEmptyEntries)
                .Select(folder => Path.Combine(folder, command))];
        string? file = candidates.FirstOrDefault(File.Exists);
        return file is null ? null : File.ResolveLinkTarget(file, returnFinalTarget: true)?.FullName ?? file;
    }

    private static bool IsElf(ReadOnlySpan<byte> head) => head.StartsWith("\u007fELF"u8);

    private static byte[] HeadOf(string file)
    {
        try
        {
            using FileStream stream = File.OpenRead(file);
            var head = new byte[64];
            return head[..stream.ReadAtLeast(head, head.Length, throwOnEndOfStream: false)];
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }

    /// <summary>Whether the file has a mark, also across the border of two blocks.</summary>
    private static bool Contains(string file, ReadOnlySpan<byte> mark)
    {
        using FileStream stream = File.OpenRead(file);
        var block = new byte[BlockBytes];
        int kept = 0;
        while (stream.Read(block.AsSpan(kept)) is > 0 and var read)
        {
            Span<byte> seen = block.AsSpan(0, kept + read);
            if (seen.IndexOf(mark) >= 0)
            {
                return true;
            }

            kept = Math.Min(mark.Length - 1, seen.Length);
            seen[^kept..].CopyTo(block);
        }

        return false;
    }
}
