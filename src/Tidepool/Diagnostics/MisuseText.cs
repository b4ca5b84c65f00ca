namespace Tidepool;

/// <summary>What a report says of a rental.</summary>
/// <param name="what">What was rented, or null where the report's own words do.</param>
/// <param name="detail">What else is known, or null.</param>
internal readonly struct RentalText(string? what, string? detail)
{
    internal string? What { get; } = what;

    internal string? Detail { get; } = detail;
}

/// <summary>The sentences of misuse reports, in one place so that they read alike.</summary>
internal static class MisuseText
{
    internal const string LostRace = "The renting thread won; the other return was ignored.";

    internal const string IdleAlready = "It is idle in the pool already.";

    /// <summary>
    /// The names of <see cref="MisuseKind"/>, in its order: a program that is compiled ahead of time pays 80 KB for asking an enum.
    /// </summary>
    internal static readonly string[] Names =
    [
        nameof(MisuseKind.DoubleReturn), nameof(MisuseKind.UseAfterReturn), nameof(MisuseKind.RacingReturn),
        nameof(MisuseKind.ForeignReturn), nameof(MisuseKind.WrongLength), nameof(MisuseKind.NeverReturned),
        nameof(MisuseKind.WriteAfterReturn), nameof(MisuseKind.StaleDispose),
    ];

    /// <summary>What a lease says that is <c>default</c>.</summary>
    internal static string NeverRented(string lease) => $"This lease is default({lease}): it was never rented.";

    /// <summary>What a report says.</summary>
    /// <param name="kind">What was done.</param>
    /// <param name="pool">The name of the pool.</param>
    /// <param name="detail">What else is known, or null.</param>
    /// <param name="what">What was rented without a lease, as the sentence begins ("An array of 16 elements"); null for a lease.</param>
    internal static string Describe(MisuseKind kind, string pool, string? detail, string? what = null)
    {
        string text = kind switch
        {
            MisuseKind.DoubleReturn when what is not null => $"{what} was returned twice. Return it once",
            MisuseKind.DoubleReturn => "A rental was returned twice. Return it once, or use 'using' and no Return",
            MisuseKind.UseAfterReturn => "A lease was used after it was returned. Use what it holds before Return or Dispose",
            MisuseKind.RacingReturn => "Two threads returned one rental at the same time. One of them must own it",
            MisuseKind.ForeignReturn =>
                $"{what ?? "A rental"} was returned to a pool that did not hand it out, or that has "
                    + "it back already. Return it where it was rented, once",
            MisuseKind.WrongLength => "An array was returned whose length is not one of the pool's. Return the array as it was rented",
            MisuseKind.NeverReturned => $"{what ?? "A rental"} was dropped without being returned. Return or dispose every rental",
            MisuseKind.WriteAfterReturn =>
                "Memory was written to after it was returned. No span or array of a rental may be used after its return",
            MisuseKind.StaleDispose => "A lease was disposed again after what it held was rented again. Dispose each lease once",
            _ => throw new ArgumentOutOfRangeException(nameof(kind), (int)kind, "There is no such kind of misuse."),
        };
        return detail is null ? $"{text} (pool '{pool}')." : $"{text} (pool '{pool}'). {detail}";
    }

    /// <summary>A kind of object at the start of a sentence.</summary>
    internal static string One(string noun) => $"{("AEIOU".Contains(noun[0], StringComparison.Ordinal) ? "An" : "A")} {noun}";

    /// <summary>An array at the start of a sentence.</summary>
    internal static string OneArray(int length) => $"An array of {length} elements";
}
