namespace Tidepool.Labs;

/// <summary>Names one subject in one cell.</summary>
internal readonly record struct WorkloadKey(Cell Cell, string Subject)
{
    /// <inheritdoc/>
    public override string ToString() => $"{Subject} @ {Cell.Key}";
}

/// <summary>One subject in one cell: what is measured in rounds.</summary>
internal sealed class Workload
{
    /// <summary>Where and who.</summary>
    public required WorkloadKey Key { get; init; }

    /// <summary>The part of the lab's table it is shown in.</summary>
    public required Section Section { get; init; }

    /// <summary>Whether the subject is ours or a rival's.</summary>
    public required bool Ours { get; init; }

    /// <summary>Makes the loop in the measuring process; returns null when the subject is not there.</summary>
    public required Func<Loop?> Create { get; init; }

    /// <summary>What to say when <see cref="Create"/> returns null.</summary>
    public string Missing { get; init; } = "not available here";

    /// <summary>Measured in every round whose number this divides: 1 is every round, 3 every third.</summary>
    public int EveryRounds { get; init; } = 1;

    /// <summary>Operations of one batch where the loop itself fixes them, else 0 and they are found by trying.</summary>
    public int FixedOperations { get; init; }
}

/// <summary>How a part of a lab's table is laid out.</summary>
internal enum SectionLayout
{
    /// <summary>One line for each subject, grouped by cell.</summary>
    Rows,

    /// <summary>One line for each cell, one column for each subject.</summary>
    Matrix,

    /// <summary>One line for each subject and a column for each metric.</summary>
    Metrics,
}

/// <summary>A part of a lab's table, with its own baseline.</summary>
internal sealed class Section
{
    /// <summary>The heading.</summary>
    public required string Title { get; init; }

    /// <summary>One sentence below the heading: what one operation is.</summary>
    public required string About { get; init; }

    /// <summary>The subject that ratios of this part refer to, or null when it has no ratios.</summary>
    public string? Baseline { get; init; }

    /// <summary>How it is laid out.</summary>
    public SectionLayout Layout { get; init; }

    /// <summary>Coordinates that are the same in the whole section and need no repeating.</summary>
    public required IReadOnlyList<string> Varies { get; init; }

    /// <summary>Whether its cells are lines of short tables, where usual choice and ours were measured.</summary>
    public bool IsHeadline => Headline ?? Layout == SectionLayout.Rows;

    /// <summary>Sections are shown in this order; those with the same number in the order of their rows.</summary>
    public int Order { get; init; }

    /// <summary>Overrules the layout in <see cref="IsHeadline"/>.</summary>
    public bool? Headline { get; init; }

    /// <summary>Unit of one operation in the tables: nanoseconds per this.</summary>
    public string Operation { get; init; } = "operation";
}
