using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// Does what the state of a pool has decided: calls the policy, with nothing held, and brings its answer into a section. Threads of the
/// thread pool come here for work that no thread has begun.
/// </summary>
internal sealed partial class PoolRunner<T>(ResourceCore<T> core, ResourcePolicy<T> policy, ResourceSettings settings) : IThreadPoolWorkItem
    where T : class
{
    /// <summary>Detached work runs where a test says, and not on the thread pool.</summary>
    internal bool IsInline => settings.Executor is not null;

    /// <summary>Asks for a thread for the backlog. The gate was left.</summary>
    internal void QueueThread()
    {
        if (settings.Executor is { } executor)
        {
            executor(this);
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    /// <summary>A thread has come: it does what is oldest, if that was not done meanwhile.</summary>
    void IThreadPoolWorkItem.Execute()
    {
        ResourceSlot<T>? slot;
        using (PoolSection<T> section = core.Gate.Enter("thread"))
        {
            slot = core.State.BeginOldest(section);
        }

        if (slot is not null)
        {
            Work(slot);
        }
    }

    /// <summary>Does a slot's work; it ends when the policy's answer was taken.</summary>
    internal void Work(ResourceSlot<T> slot) => _ = slot.Work switch
    {
        SlotWork.Create => CreateAsync(slot),
        SlotWork.Check => CheckAsync(slot),
        SlotWork.Reset => ResetOnThread(slot),
        SlotWork.KeepAlive => KeepAliveAsync(slot),
        _ => DestroyAsync(slot, slot.Resource!, slot.Reason),
    };

    private async Task CreateAsync(ResourceSlot<T> slot)
    {
        T? resource = null;
        Exception? failure = null;
        long start = Stopwatch.GetTimestamp();
        PoolSpan span = PoolSpan.Begin(PoolSpan.Create, core.Series, TakeAsker(slot));
        span.Enter();
        try
        {
            resource = await policy.CreateAsync(slot.Stopping).ConfigureAwait(false) ?? throw Null(nameof(ResourcePolicy<>.CreateAsync));
        }
        catch (Exception e)
        {
            failure = e;
        }

        span.End(failure?.GetType().FullName);
        FinishCreate(slot, resource, failure, start, null);
    }

    internal void CreateInline(Waiter<T> waiter, ResourceSlot<T> slot)
    {
        T? resource = null;
        Exception? failure = null;
        long start = Stopwatch.GetTimestamp();
        using CancellationTokenSource? deadline = waiter.Deadline == ResourceSettings.NoLimit
            ? null
            : new CancellationTokenSource(TimeSpan.FromMilliseconds(Math.Max(0, waiter.Deadline - core.Clock.Now)), core.Clock.Provider);
        using CancellationTokenSource stop = CancellationTokenSource.CreateLinkedTokenSource(
            slot.Stopping, waiter.Cancellation, deadline?.Token ?? default);
        PoolSpan span = PoolSpan.Begin(PoolSpan.Create, core.Series, TakeAsker(slot));
        span.Enter();
        try
        {
            resource = policy.Create(stop.Token) ?? throw Null(nameof(ResourcePolicy<>.Create));
        }
        catch (Exception e)
        {
            failure = e;
        }

        span.Leave();
        span.End(failure?.GetType().FullName);
        FinishCreate(slot, resource, failure, start, waiter);
    }

    private static InvalidOperationException Null(string method) => new($"{method} of the policy returned null.");

    /// <summary>Brings the answer of a creation.</summary>
    /// <param name="slot">The slot.</param>
    /// <param name="resource">What was created, or null.</param>
    /// <param name="failure">Why not, or null.</param>
    /// <param name="start">When the creation began, in ticks of <see cref="Stopwatch"/>.</param>
    /// <param name="renter">The rental whose parked thread has created, or null.</param>
    internal void FinishCreate(ResourceSlot<T> slot, T? resource, Exception? failure, long start, Waiter<T>? renter)
    {
        if (resource is null)
        {
            FailCreate(slot, failure!, renter);
            return;
        }

        DateTimeOffset created = core.Clock.Provider.GetUtcNow();
        bool isInTime;
        using (PoolSection<T> section = core.Gate.Enter("created"))
        {
            isInTime = core.State.FinishCreate(slot, resource, created, renter, section);
        }

        settings.Meter.Created(core.Series, start);
        if (!isInTime)
        {
            DestroyLate(slot, resource);
        }
    }

    private void FailCreate(ResourceSlot<T> slot, Exception failure, Waiter<T>? renter)
    {
        bool isPermanent = IsPermanent(failure);
        bool isFailure;
        using (PoolSection<T> section = core.Gate.Enter("created"))
        {
            isFailure = core.State.FailCreate(slot, failure, isPermanent, renter, section);
        }

        if (isFailure)
        {
            settings.Meter.CreateFailed(core.Series, failure);
        }
    }

    private bool IsPermanent(Exception failure)
    {
        try
        {
            return policy.IsPermanent(failure);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("IsPermanent", e, core.Name, core.Key);
            return false;
        }
    }

    private async Task CheckAsync(ResourceSlot<T> slot)
    {
        T resource = slot.Resource!;
        Activity? asker = TakeAsker(slot);
        DestroyReason? why = core.IsBroken(resource) ? DestroyReason.Broken : null;
        bool isValidated = false;
        try
        {
            bool needsValidation = why is null && core.State.NeedsValidation(slot, core.Clock.Now);
            if (needsValidation && !await ValidateAsync(slot).ConfigureAwait(false))
            {
                why = DestroyReason.ValidationFailed;
            }

            isValidated = true;
            if (why is null && slot.IsDirty && !await ResetAsync(slot, asker).ConfigureAwait(false))
            {
                why = DestroyReason.ResetFailed;
            }
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed(isValidated ? "ResetAsync" : "ValidateAsync", e, core.Name, core.Key);
            why = isValidated ? DestroyReason.ResetFailed : DestroyReason.ValidationFailed;
        }

        FinishCheck(slot, why);
    }

    /// <summary>The policy's asynchronous look at a resource; perhaps on a renter's thread.</summary>
    private ValueTask<bool> ValidateAsync(ResourceSlot<T> slot)
    {
        slot.BeginCall();
        try
        {
            return policy.ValidateAsync(slot.Resource!, slot.Stopping);
        }
        finally
        {
            slot.EndCall();
        }
    }

    private async Task KeepAliveAsync(ResourceSlot<T> slot)
    {
        DestroyReason? why = null;
        try
        {
            await policy.KeepAliveAsync(slot.Resource!, slot.Stopping).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("KeepAliveAsync", e, core.Name, core.Key);
            why = DestroyReason.KeepAliveFailed;
        }

        FinishCheck(slot, why, keepsDirt: true);
    }

    /// <summary>Brings the answer to a check.</summary>
    internal void FinishCheck(ResourceSlot<T> slot, DestroyReason? why, Waiter<T>? renter = null, bool keepsDirt = false)
    {
        bool isInTime;
        core.NoteReset(slot);
        using (PoolSection<T> section = core.Gate.Enter("checked"))
        {
            isInTime = core.State.FinishCheck(slot, why, renter, keepsDirt, section);
        }

        if (!isInTime)
        {
            DestroyLate(slot, slot.Resource!);
        }
    }

    /// <summary>Has the policy look at a resource, and reset it if that is due, on this thread.</summary>
    /// <param name="slot">The slot.</param>
    /// <param name="why">Why the resource must not serve, or null.</param>
    /// <returns>False when the policy has no synchronous way.</returns>
    internal bool TryCheckInline(ResourceSlot<T> slot, out DestroyReason? why)
    {
        T resource = slot.Resource!;
        why = core.IsBroken(resource) ? DestroyReason.Broken : null;
        if (why is not null)
        {
            return true;
        }

        bool? isGood = true;
        bool isValidated = false;
        try
        {
            if (core.State.NeedsValidation(slot, core.Clock.Now))
            {
                isGood = policy.Validate(resource);
            }

            isValidated = isGood == true;
            if (isValidated && slot.IsDirty)
            {
                isGood = Reset(resource, slot.Asker);
            }
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed(isValidated ? "Reset" : "Validate", e, core.Name, core.Key);
            isGood = false;
        }

        slot.Asker = isGood is null ? slot.Asker : null;
        why = isGood != false ? null : isValidated ? DestroyReason.ResetFailed : DestroyReason.ValidationFailed;
        return isGood is not null;
    }

    /// <summary>
    /// The policy has no synchronous way: its asynchronous one runs on the thread pool, and the rental is back in its place.
    /// </summary>
    internal void HandToThreadPool(ResourceSlot<T> slot, Waiter<T>? renter)
    {
        bool isInTime;
        using (PoolSection<T> section = core.Gate.Enter("hand over"))
        {
            isInTime = core.State.HandToThreadPool(slot, renter, section);
        }

        if (!isInTime)
        {
            DestroyLate(slot, slot.Resource!);
        }
    }

    /// <summary>The reset after a synchronous return: this thread waits for it, so that its end needs no other one.</summary>
    private Task ResetOnThread(ResourceSlot<T> slot)
    {
        if (!TryCheckInline(slot, out DestroyReason? why))
        {
            return CheckAsync(slot);
        }

        FinishCheck(slot, why);
        return Task.CompletedTask;
    }

    internal bool? ResetInline(T resource)
    {
        try
        {
            return Reset(resource, null);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("Reset", e, core.Name, core.Key);
            return false;
        }
    }

    /// <summary>Begins the reset on this thread; what does not end at once goes on without it.</summary>
    /// <returns>What is still to be awaited, or null.</returns>
    internal Task? BeginReset(ResourceSlot<T> slot)
    {
        ValueTask<bool> reset = CallReset(slot);
        if (reset.IsCompletedSuccessfully)
        {
            core.CompleteReturn(slot, reset.Result ? null : DestroyReason.ResetFailed);
            return null;
        }

        using (PoolSection<T> section = core.Gate.Enter())
        {
            core.State.ReturnResetting(slot, section);
        }

        return FinishResetAsync(slot, reset);
    }

    private ValueTask<bool> CallReset(ResourceSlot<T> slot)
    {
        try
        {
            return ResetAsync(slot, null);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("ResetAsync", e, core.Name, core.Key);
            return new(false);
        }
    }

    private async Task FinishResetAsync(ResourceSlot<T> slot, ValueTask<bool> reset)
    {
        bool isReset = false;
        try
        {
            isReset = await reset.ConfigureAwait(false);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("ResetAsync", e, core.Name, core.Key);
        }

        FinishCheck(slot, isReset ? null : DestroyReason.ResetFailed);
    }

    /// <summary>The returner waits for its reset, but not for one that hangs.</summary>
    internal async ValueTask AwaitReset(Task reset)
    {
        try
        {
            await reset.WaitAsync(ResourceSettings.TimeOf(settings.PolicyTimeout), core.Clock.Provider).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // The pool's timer gives its place up.
        }
    }

    /// <summary>Destroys what an operation has left whose place was given up meanwhile.</summary>
    private void DestroyLate(ResourceSlot<T> slot, T resource) => _ = DestroyAsync(slot, resource, DestroyReason.Abandoned);

    private Task DestroyAsync(ResourceSlot<T> slot, T resource, DestroyReason why) =>
        FinishDestroyAsync(slot, BeginDestroy(resource, why), why, null);

    internal ValueTask BeginDestroy(T resource, DestroyReason why)
    {
        try
        {
            return policy.DestroyAsync(resource, why);
        }
        catch (Exception e)
        {
            return ValueTask.FromException(e);
        }
    }

    /// <summary>Waits for the policy, then frees the place.</summary>
    /// <param name="slot">The slot.</param>
    /// <param name="destruction">What the policy does.</param>
    /// <param name="why">Why it was to go.</param>
    /// <param name="worker">The rental whose parked thread did it, perhaps for another key; only where the policy is done already.</param>
    internal async Task FinishDestroyAsync(ResourceSlot<T> slot, ValueTask destruction, DestroyReason why, Waiter<T>? worker)
    {
        bool hasFailed = false;
        try
        {
            await destruction.ConfigureAwait(false);
        }
        catch (Exception e)
        {
            hasFailed = true;
            TidepoolEventSource.Log.PolicyFailed("DestroyAsync", e, core.Name, core.Key);
        }

        settings.Meter.Destroyed(core.Series, why);
        using PoolSection<T> section = core.Gate.Enter("destroyed");
        core.State.FinishDestroy(slot, hasFailed, worker, section);
    }
}
