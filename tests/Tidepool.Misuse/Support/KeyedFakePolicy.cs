namespace Tidepool.Misuse.Support;

/// <summary>The fake factory for pools with keys: every key is made, looked after and ended by the same one.</summary>
public sealed class KeyedFakePolicy(FakePolicy policy) : KeyedResourcePolicy<string, FakeResource>
{
    public override ValueTask<FakeResource> CreateAsync(string key, CancellationToken cancellationToken) => policy.CreateAsync(cancellationToken);

    public override bool IsBroken(FakeResource resource) => policy.IsBroken(resource);

    public override ValueTask<bool> ValidateAsync(FakeResource resource, CancellationToken cancellationToken) => policy.ValidateAsync(resource, cancellationToken);

    public override ValueTask DestroyAsync(FakeResource resource, DestroyReason reason) => policy.DestroyAsync(resource, reason);
}
