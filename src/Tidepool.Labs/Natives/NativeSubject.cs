namespace Tidepool.Labs;

/// <summary>A way to get and give back native blocks: a driver, a face of it, and perhaps a library that is preloaded.</summary>
internal sealed record NativeSubject(string Name, bool Ours, string Driver, string Face)
{
    /// <summary>The library that replaces malloc, by the name of its file; null when none is preloaded.</summary>
    public string? Library { get; init; }

    /// <summary>The package that brings what the subject needs beside the compiler's own library.</summary>
    public string? Package { get; init; }

    /// <summary>Whether blocks may be returned by another thread than the one that rented them.</summary>
    public bool ManyThreads { get; init; } = true;

    /// <summary>Where the library is, or null when none is needed or it is not there.</summary>
    public string? LibraryPath => Library is null ? null : Ours ? NativeBuild.Find(Library) : SystemLibraries.Find(Library);

    /// <summary>Whether the rival's library is installed.</summary>
    public bool IsInstalled => (Library is null || LibraryPath is not null) && (Header is null || File.Exists(Header));

    /// <summary>A header file that the driver was built with; null when none is needed.</summary>
    public string? Header { get; init; }

    /// <summary>What is missing, or null when the subject can run.</summary>
    public string? Missing =>
        NativeBuild.Program(Driver) is null || (Ours && Library is not null && LibraryPath is null) ? NativeBuild.Missing
        : !IsInstalled ? $"not installed: apt-get install {Package}"
        : null;

    /// <summary>A probe that starts programs of this subject; where something of it is missing, the row says what.</summary>
    /// <param name="section">The part of the table.</param>
    /// <param name="cell">The point of the grid.</param>
    /// <param name="run">Makes the measurement; null when it cannot.</param>
    /// <param name="waits">Whether it mostly waits.</param>
    /// <param name="otherwise">What the row says when the subject is there and <paramref name="run"/> gives null.</param>
    public Probe NewProbe(
        Section section,
        Cell cell,
        Func<ProbeSite, IReadOnlyDictionary<string, double>?> run,
        bool waits = false,
        string otherwise = "not available here") => new()
    {
        Key = new(cell, Name),
        Section = section,
        Ours = Ours,
        StartsPrograms = true,
        Waits = waits,
        Missing = Missing ?? otherwise,
        Run = site => Missing is null ? run(site) : null,
    };

    /// <summary>Runs the driver once with a verb and reads the numbers it prints; null when something is missing.</summary>
    public IReadOnlyDictionary<string, double>? RunOnce(ProbeSite site, params string[] arguments) =>
        Missing is not null ? null : NativeTool.Run(NativeBuild.Program(Driver)!, [Face, .. arguments], site, LibraryPath);
}
