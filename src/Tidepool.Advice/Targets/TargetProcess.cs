namespace Tidepool.Advice;

/// <summary>A .NET process that one may attach to.</summary>
internal sealed record TargetProcess
{
    /// <summary>The number of the process.</summary>
    public required int Id { get; init; }

    /// <summary>The name of the program: that of its assembly where <c>dotnet</c> runs it.</summary>
    public required string Name { get; init; }

    /// <summary>The command line; empty where the system does not show it.</summary>
    public string CommandLine { get; init; } = "";

    /// <summary>The version of the runtime; empty where it is not known, as in programs of a single file.</summary>
    public string Runtime { get; init; } = "";

    /// <summary>Whether the process has loaded Tidepool.</summary>
    public bool UsesTidepool { get; init; }

    /// <summary>The bytes of memory that the process holds.</summary>
    public long WorkingSet { get; init; }

    /// <summary>The processor time it has used since its start.</summary>
    public TimeSpan ProcessorTime { get; init; }
}
