namespace Tidepool;

/// <summary>A keyed policy at one of its keys.</summary>
internal sealed class KeyPolicy<TKey, T>(KeyedResourcePolicy<TKey, T> policy, TKey key, PolicyTraits traits) : ResourcePolicy<T>
    where TKey : notnull
    where T : class
{
    internal TKey Key => key;

    internal override string KeyText { get; } = PoolName.KeyText(key);

    internal override PolicyTraits Traits => traits;

    public override ValueTask<T> CreateAsync(CancellationToken cancellationToken) => policy.CreateAsync(key, cancellationToken);

    public override T Create(CancellationToken cancellationToken) => policy.Create(key, cancellationToken);

    public override bool IsLasting(Exception failure) => policy.IsLasting(key, failure);

    public override bool IsBroken(T resource) => policy.IsBroken(resource);

    public override ValueTask<bool> ValidateAsync(T resource, CancellationToken cancellationToken) => policy.ValidateAsync(resource, cancellationToken);

    public override bool? Validate(T resource) => policy.Validate(resource);

    public override ValueTask<bool> ResetAsync(T resource, CancellationToken cancellationToken) => policy.ResetAsync(resource, cancellationToken);

    public override bool? Reset(T resource) => policy.Reset(resource);

    public override ValueTask KeepAliveAsync(T resource, CancellationToken cancellationToken) => policy.KeepAliveAsync(resource, cancellationToken);

    public override ValueTask DestroyAsync(T resource, DestroyReason reason) => policy.DestroyAsync(resource, reason);
}
