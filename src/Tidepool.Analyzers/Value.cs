namespace Tidepool.Analyzers;

/// <summary>How a value relates to a rental.</summary>
internal enum ValueForm
{
    /// <summary>The array, lease, owner or object itself.</summary>
    Rental,

    /// <summary>A span, memory or object that shows what the rental holds.</summary>
    View,

    /// <summary>The result of TryRent: true when there is a rental.</summary>
    Tried,

    /// <summary>A task whose result will be the rental.</summary>
    Pending,
}

/// <summary>What is known of a value, in one number, so that it fits into a cell of a state.</summary>
internal readonly record struct Value(int Code)
{
    internal static readonly Value Unknown = new(0);
    internal static readonly Value Null = new(1);
    internal static readonly Value True = new(2);
    internal static readonly Value False = new(3);

    private const int FirstSite = 4;

    internal int Code { get; } = Code;

    internal bool HasSite => Code >= FirstSite;

    internal int Site => (Code - FirstSite) >> 2;

    internal ValueForm Form => (ValueForm)((Code - FirstSite) & 3);

    internal bool IsRental => HasSite && Form == ValueForm.Rental;

    internal bool IsView => HasSite && Form == ValueForm.View;

    internal static Value Of(int site, ValueForm form) => new(FirstSite + (site << 2) + (int)form);

    internal static Value Of(bool value) => value ? True : False;

    internal Value As(ValueForm form) => HasSite ? Of(Site, form) : Unknown;
}

/// <summary>Where a rental stands on one way through the method.</summary>
internal enum Status
{
    /// <summary>Not rented.</summary>
    None,

    /// <summary>Tried: rented when the result is true.</summary>
    Maybe,

    /// <summary>Rented, and only locals of this method hold it.</summary>
    Rented,

    /// <summary>Rented, and something else may hold it and return it.</summary>
    Escaped,

    /// <summary>Returned.</summary>
    Returned,
}

/// <summary>The cell of a rental: its status, whether a use after the return was seen on this way, and where it was returned.</summary>
internal readonly record struct Standing(int Code)
{
    private const int UseSeen = 8;
    private const int PointShift = 4;

    internal Standing(Status status, int point = 0)
        : this((int)status | (point << PointShift))
    {
    }

    internal int Code { get; } = Code;

    internal Status Status => (Status)(Code & 7);

    internal bool IsUseSeen => (Code & UseSeen) != 0;

    /// <summary>Index of the return among the return points of the graph.</summary>
    internal int Point => Code >> PointShift;

    internal Standing WithUseSeen() => new(Code | UseSeen);
}
