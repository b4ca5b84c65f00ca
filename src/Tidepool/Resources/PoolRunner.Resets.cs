using System.Diagnostics;

namespace Tidepool;

/// <content>The calls of the policy that reset a resource, each with its span where a listener wants it.</content>
internal sealed partial class PoolRunner<T>
{
    /// <summary>What a span says of a reset that did not succeed and threw nothing.</summary>
    private const string NotReset = "reset_failed";

    /// <summary>The rental that the slot's work is for, which the next work of the slot must not find.</summary>
    private static Activity? TakeAsker(ResourceSlot<T> slot)
    {
        Activity? asker = slot.Asker;
        slot.Asker = null;
        return asker;
    }

    /// <summary>Resets on this thread.</summary>
    /// <returns>Whether it could; null when the policy has no synchronous way.</returns>
    private bool? Reset(T resource, Activity? asker)
    {
        PoolSpan span = PoolSpan.Begin(PoolSpan.Reset, core.Series, asker);
        if (span.Activity is null)
        {
            return policy.Reset(resource);
        }

        bool? isReset = false;
        string? error = NotReset;
        span.Enter();
        try
        {
            isReset = policy.Reset(resource);
            error = isReset == false ? NotReset : null;
            return isReset;
        }
        catch (Exception e)
        {
            error = e.GetType().FullName;
            throw;
        }
        finally
        {
            span.Leave();
            if (isReset is null)
            {
                span.Abandon();
            }
            else
            {
                span.End(error);
            }
        }
    }

    /// <summary>Begins an asynchronous reset, perhaps on a renter's thread.</summary>
    private ValueTask<bool> ResetAsync(ResourceSlot<T> slot, Activity? asker)
    {
        PoolSpan span = PoolSpan.Begin(PoolSpan.Reset, core.Series, asker);
        slot.BeginCall();
        try
        {
            return span.Activity is null ? policy.ResetAsync(slot.Resource!, slot.Stopping) : ResetAsync(slot, span);
        }
        finally
        {
            slot.EndCall();
        }
    }

    private async ValueTask<bool> ResetAsync(ResourceSlot<T> slot, PoolSpan span)
    {
        string? error = NotReset;
        span.Enter();
        try
        {
            bool isReset = await policy.ResetAsync(slot.Resource!, slot.Stopping).ConfigureAwait(false);
            error = isReset ? null : NotReset;
            return isReset;
        }
        catch (Exception e)
        {
            error = e.GetType().FullName;
            throw;
        }
        finally
        {
            span.End(error);
        }
    }
}
