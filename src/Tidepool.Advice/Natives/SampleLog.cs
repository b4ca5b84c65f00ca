namespace Tidepool.Advice;

/// <summary>A sampled block of a native program, as the log has it.</summary>
internal sealed record LoggedBlock
{
    /// <summary>The number of its stack; 0 where that is not known.</summary>
    public required int Stack { get; init; }

    /// <summary>The bytes that were asked for.</summary>
    public required long Size { get; init; }

    /// <summary>When it was allocated, in nanoseconds of the log's clock.</summary>
    public required long Time { get; init; }

    /// <summary>The thread that allocated it.</summary>
    public required int Thread { get; init; }

    /// <summary>Whether its free would be in the log.</summary>
    public bool IsFollowed { get; init; }

    /// <summary>When it was freed; null while it lives.</summary>
    public long? FreeTime { get; set; }

    /// <summary>The thread that freed it; 0 while it lives.</summary>
    public int FreeThread { get; set; }
}

/// <summary>A program or a library as the loader placed it.</summary>
/// <param name="Path">Its file.</param>
/// <param name="Load">What was added to the addresses of the file.</param>
/// <param name="Begin">Its first address.</param>
/// <param name="End">The address behind its last.</param>
internal sealed record LoggedModule(string Path, ulong Load, ulong Begin, ulong End);

/// <summary>Everything that one process recorded through the native library.</summary>
internal sealed record SampleLog
{
    /// <summary>The process.</summary>
    public required int Process { get; init; }

    /// <summary>When it began, in nanoseconds of the monotonic clock.</summary>
    public required long Start { get; init; }

    /// <summary>The mean bytes between two samples.</summary>
    public required long MeanBytes { get; init; }

    /// <summary>Records that found no room.</summary>
    public long Lost { get; init; }

    /// <summary>The blocks in the order of their allocation.</summary>
    public required IReadOnlyList<LoggedBlock> Blocks { get; init; }

    /// <summary>The return addresses of each stack, the innermost first.</summary>
    public required IReadOnlyDictionary<int, ulong[]> Stacks { get; init; }

    /// <summary>The program and its libraries.</summary>
    public required IReadOnlyList<LoggedModule> Modules { get; init; }

    /// <summary>The sizes of the library's classes, ascending.</summary>
    public required IReadOnlyList<int> Classes { get; init; }

    /// <summary>When the last of its records was written; when it began where it has none.</summary>
    public long Last => Blocks.Select(static block => Math.Max(block.Time, block.FreeTime ?? 0)).DefaultIfEmpty(Start).Max();

    /// <summary>
    /// Whether another log continues it: a process that executes another program keeps its number. Two sandboxes with one number look
    /// like that too when one runs after the other.
    /// </summary>
    public bool IsContinuedBy(SampleLog other) => other.Process == Process && other.Start > Last;

    /// <summary>The module that has an address; null where none has.</summary>
    public LoggedModule? ModuleOf(ulong address) => Modules.FirstOrDefault(module => address >= module.Begin && address < module.End);
}
