namespace Tidepool;

/// <summary>What the meter reads at each collection.</summary>
internal enum ResourceGauge
{
    /// <summary>Resources that wait for a renter.</summary>
    Idle,

    /// <summary>Resources that are leased or being checked.</summary>
    Used,

    /// <summary>Rentals that wait.</summary>
    Waiting,

    /// <summary>The largest size.</summary>
    Max,

    /// <summary>The smallest size.</summary>
    Min,
}

/// <summary>A pool of resources, as the meter sees it.</summary>
internal interface IMeteredResources
{
    /// <summary>The pool's name.</summary>
    string Name { get; }

    /// <summary>One number at this moment: one for the pool, or for each label of its keys.</summary>
    IReadOnlyCollection<(string? Key, int Value)> Read(ResourceGauge gauge);
}
