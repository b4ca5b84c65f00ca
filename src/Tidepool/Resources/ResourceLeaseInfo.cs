namespace Tidepool;

/// <summary>What a pool knows of a leased resource.</summary>
/// <param name="Id">The number of the resource in its pool, from 1.</param>
/// <param name="CreatedAt">When it was created.</param>
/// <param name="UseCount">How often it was rented, this time included.</param>
/// <param name="Generation">How often the pool had been cleared when its creation began.</param>
public readonly record struct ResourceLeaseInfo(long Id, DateTimeOffset CreatedAt, long UseCount, int Generation);
