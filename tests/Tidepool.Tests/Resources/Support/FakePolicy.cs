using System.Collections.Concurrent;

namespace Tidepool.Tests.Resources.Support;

/// <summary>A factory that fails, hangs, throws and lets its resources die on command.</summary>
public sealed class FakePolicy : ResourcePolicy<FakeResource>
{
    private int _made;
    private int _attempts;
    private int _creating;

    /// <summary>All resources that were made, in the order of their making.</summary>
    public ConcurrentQueue<FakeResource> Made { get; } = [];

    public ConcurrentQueue<(FakeResource Resource, DestroyReason Reason)> Destroyed { get; } = [];

    public int Attempts => Volatile.Read(ref _attempts);

    public int Creating => Volatile.Read(ref _creating);

    public int MostCreating { get; private set; }

    public int Alive => Made.Count(static r => r.Ends == 0);

    /// <summary>What a creation throws, or null.</summary>
    public Exception? CreateError { get; set; }

    /// <summary>Whether such an error comes again until its cause is repaired.</summary>
    public Func<Exception, bool> Permanent { get; set; } = static _ => false;

    /// <summary>Creations wait for this one; null lets them through.</summary>
    public TaskCompletionSource? CreateGate { get; set; }

    /// <summary>Whether operations that hang listen to their token.</summary>
    public bool HonoursTokens { get; set; } = true;

    /// <summary>Called by each creation, before it waits for its gate.</summary>
    public Action? OnCreate { get; set; }

    public Func<FakeResource, bool> Broken { get; set; } = static r => r.IsDead;

    public Func<FakeResource, CancellationToken, ValueTask<bool>> OnValidate { get; set; } = static (r, _) => new(!r.IsDead);

    public Func<FakeResource, bool?> OnValidateHere { get; set; } = static r => !r.IsDead;

    public Func<FakeResource, CancellationToken, ValueTask<bool>> OnReset { get; set; } = static (_, _) => new(true);

    public Func<FakeResource, bool?> OnResetHere { get; set; } = static _ => true;

    public Func<FakeResource, CancellationToken, ValueTask> OnKeepAlive { get; set; } = static (_, _) => default;

    /// <summary>Whether a reset is done only later; null for a policy that does it at once.</summary>
    public Func<FakeResource, bool>? IsResetPending { get; set; }

    public Func<FakeResource, ValueTask> OnDestroy { get; set; } = static _ => default;

    public Func<CancellationToken, FakeResource>? OnCreateHere { get; set; }

    public static TaskCompletionSource Gate() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>A gate whose waiters go on within <see cref="Open"/>, so that a test sees the outcome at once.</summary>
    public static TaskCompletionSource DirectGate() => new();

    /// <summary>Opens a direct gate; where a test has a synchronization context, continuations would be queued instead.</summary>
    public static void Open(TaskCompletionSource gate)
    {
        ArgumentNullException.ThrowIfNull(gate);
        Directly(gate.SetResult);
    }

    /// <summary>Opens a direct gate whose waiters expect a result, with the result true.</summary>
    public static void Open(TaskCompletionSource<bool> gate)
    {
        ArgumentNullException.ThrowIfNull(gate);
        Directly(() => gate.SetResult(true));
    }

    public override async ValueTask<FakeResource> CreateAsync(CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _attempts);
        int creating = Interlocked.Increment(ref _creating);
        lock (Made)
        {
            MostCreating = Math.Max(MostCreating, creating);
        }

        try
        {
            OnCreate?.Invoke();
            if (CreateGate is { } gate)
            {
                await (HonoursTokens ? gate.Task.WaitAsync(cancellationToken) : gate.Task).ConfigureAwait(false);
            }

            return Make();
        }
        finally
        {
            Interlocked.Decrement(ref _creating);
        }
    }

    public override FakeResource Create(CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _attempts);
        return OnCreateHere is { } create ? create(cancellationToken) : Make();
    }

    public FakeResource Make()
    {
        if (CreateError is { } error)
        {
            throw error;
        }

        var resource = new FakeResource(Interlocked.Increment(ref _made));
        Made.Enqueue(resource);
        return resource;
    }

    public override bool IsPermanent(Exception failure) => Permanent(failure);

    public override bool IsBroken(FakeResource resource) => Broken(resource);

    public override ValueTask<bool> ValidateAsync(FakeResource resource, CancellationToken cancellationToken)
    {
        resource.Validations++;
        return OnValidate(resource, cancellationToken);
    }

    public override bool? Validate(FakeResource resource)
    {
        resource.Validations++;
        return OnValidateHere(resource);
    }

    public override ValueTask<bool> ResetAsync(FakeResource resource, CancellationToken cancellationToken)
    {
        resource.Resets++;
        return OnReset(resource, cancellationToken);
    }

    internal override PolicyTraits Traits => base.Traits with { ResetsLater = IsResetPending is not null };

    internal override bool HasResetPending(FakeResource resource) => IsResetPending!(resource);

    public override bool? Reset(FakeResource resource) => OnResetHere(resource);

    public override ValueTask KeepAliveAsync(FakeResource resource, CancellationToken cancellationToken)
    {
        resource.KeepAlives++;
        return OnKeepAlive(resource, cancellationToken);
    }

    public override ValueTask DestroyAsync(FakeResource resource, DestroyReason reason)
    {
        resource.End();
        Destroyed.Enqueue((resource, reason));
        return OnDestroy(resource);
    }

    private static void Directly(Action act)
    {
        SynchronizationContext? context = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        try
        {
            act();
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(context);
        }
    }
}
