namespace Tidepool.Models.Scenarios;

/// <summary>A policy that checks where its objects are, with points in the middle of every call, and refuses some.</summary>
internal readonly struct TrackingPolicy(ObjectWorld world) : IValidatingObjectPolicy<Tracked>
{
    public Tracked Create() => world.Create();

    public bool TryReset(Tracked item) => world.Reset(item);

    public bool Validate(Tracked item) => world.Validate(item);

    public void Destroy(Tracked item) => world.Destroy(item);
}

/// <summary>Checks its objects but validates none, so that the pool takes its fast paths.</summary>
internal readonly struct PlainTrackingPolicy(ObjectWorld world) : IObjectPolicy<Tracked>
{
    public Tracked Create() => world.Create();

    public bool TryReset(Tracked item) => world.Reset(item);

    public void Destroy(Tracked item) => world.Destroy(item);
}
