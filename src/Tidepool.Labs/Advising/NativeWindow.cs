using System.Diagnostics;
using System.Globalization;
using Tidepool.Preloading;

namespace Tidepool.Labs;

/// <summary>Where the native program gets its memory.</summary>
internal enum NativeMalloc
{
    /// <summary>The C library: what the program has without us.</summary>
    CLibrary,

    /// <summary>The preload library.</summary>
    Preloaded,

    /// <summary>The preload library, which logs samples as <c>advise</c> lets it.</summary>
    Logged,
}

/// <summary>A native program that allocates on a core of its own, the twin of <see cref="AllocatingProgram"/>.</summary>
internal sealed class NativeAllocatingProgram : IDisposable
{
    private static readonly NativeSubject Subject = NativeSubjects.Shared with { Driver = "allocating" };

    private readonly PinnedProcess _process;

    private NativeAllocatingProgram(PinnedProcess process, DirectoryInfo folder)
    {
        _process = process;
        Folder = folder;
    }

    /// <summary>What is missing here to run it, with the command that brings it; null when nothing is.</summary>
    public static string? Missing => CorePair.Missing ?? Subject.Missing;

    /// <summary>The number of its process.</summary>
    public int Id => _process.Id;

    /// <summary>Where its logs are; gone with it.</summary>
    public DirectoryInfo Folder { get; }

    /// <summary>Starts it.</summary>
    /// <exception cref="LabProcessException">It did not start.</exception>
    public static NativeAllocatingProgram Start(NativeMalloc malloc)
    {
        if (Missing is { } missing)
        {
            throw new LabProcessException(missing);
        }

        var (program, words) = CorePair.Pin(
            CorePair.OfThisMachine()!.Value.Server,
            NativeBuild.Program(Subject.Driver)!,
            [AllocatingProgram.BytesPerSecond.ToString(CultureInfo.InvariantCulture)]);
        ProcessStartInfo info = NativeBuild.ToStartInfo(program, words);
        DirectoryInfo folder = Directory.CreateDirectory(Path.Combine(RunFolder.OfThisProcess, $"tidepool-samples-{Guid.NewGuid():n}"));
        switch (malloc)
        {
            case NativeMalloc.Preloaded:
                PreloadEnvironment.Preload(info.Environment, Subject.LibraryPath!);
                break;
            case NativeMalloc.Logged:
                PreloadEnvironment.Record(info.Environment, Subject.LibraryPath!, Path.Combine(folder.FullName, "log"));
                break;
        }

        return new(PinnedProcess.Start("The native program", info), folder);
    }

    /// <summary>Its state now.</summary>
    /// <exception cref="LabProcessException">It ended; or the loader refused the library, or the library cannot log.</exception>
    public AllocatingState Ask(string line = AllocatingProgram.Question)
    {
        AllocatingState state = _process.Ask<AllocatingState>(line);
        return _process.Errors is { Length: > 0 } complaint
            ? throw new LabProcessException($"The native program complained: {complaint}")
            : state;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _process.Dispose();
        Folder.Delete(recursive: true);
    }
}

/// <summary>A window in the life of a native program, which is a new process each time; an operation is a million bytes.</summary>
/// <param name="pace">How fast it allocates.</param>
/// <param name="malloc">Where it gets its memory.</param>
internal sealed class NativeWindow(AllocatingPace pace, NativeMalloc malloc) : Loop
{
    /// <summary>How long it is.</summary>
    public const int Seconds = 3;

    private static readonly TimeSpan Settle = TimeSpan.FromMilliseconds(300);

    /// <inheritdoc/>
    public override void Run(int operations)
    {
        // Nothing to warm: the program is compiled, and new in each window.
    }

    /// <inheritdoc/>
    public override Sample Measure(int operations)
    {
        ObservedProgram.Rest();
        using var program = NativeAllocatingProgram.Start(malloc);
        program.Ask(pace.ToString());
        Thread.Sleep(Settle);
        AllocatingState before = program.Ask();
        Thread.Sleep(TimeSpan.FromSeconds(Seconds));
        return Sample.OfTime(ObservedLoop.TimeOfMegabyte(pace, before, program.Ask()));
    }
}
