using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// A span of the activity source <c>Tidepool</c>: nothing while no listener wants it. The method that begins it may return while it goes
/// on, so <see cref="Activity.Current"/> changes between <see cref="Enter"/> and <see cref="Leave"/> only; ending a span puts back what
/// was current, on whatever thread that is. Calls listeners, so it is used with nothing held; what they throw is dropped.
/// </summary>
internal readonly struct PoolSpan
{
    /// <summary>A rental that stands in the queue, or whose thread works for itself, until it is served or refused.</summary>
    internal const string Wait = "tidepool.wait";

    /// <summary>The policy creates a resource.</summary>
    internal const string Create = "tidepool.create";

    /// <summary>The policy resets a resource.</summary>
    internal const string Reset = "tidepool.reset";

    // Here and not with the meter: a program that rents buffers alone has no spans, and need not carry what makes them.
    // Null where a listener threw when it was asked whether it listens: the process has no spans then.
    internal static readonly ActivitySource? Source = NewSource();

    private readonly Activity? _outer;

    private PoolSpan(Activity activity, Activity? outer) => (Activity, _outer) = (activity, outer);

    /// <summary>The activity, or null where no listener wants it.</summary>
    internal Activity? Activity { get; }

    /// <summary>Begins a span.</summary>
    /// <param name="name">What is done.</param>
    /// <param name="series">The pool and its key.</param>
    /// <param name="parent">What it is done for; null for what the calling thread does now.</param>
    internal static PoolSpan Begin(string name, in ResourceSeries series, Activity? parent = null) =>
        Source is { } source && source.HasListeners() ? BeginWanted(source, name, series, parent) : default;

    /// <summary>Makes the span the current activity of this thread: what the policy does now happens within it.</summary>
    internal void Enter()
    {
        if (Activity is not null)
        {
            SetCurrent(Activity);
        }
    }

    /// <summary>Gives the thread back what was current.</summary>
    internal void Leave()
    {
        if (Activity is not null)
        {
            SetCurrent(_outer);
        }
    }

    /// <summary>Ends the span of an operation that succeeded, or failed without an exception.</summary>
    /// <param name="error">What the tag <c>error.type</c> says, or null.</param>
    internal void End(string? error = null)
    {
        if (Activity is not null)
        {
            EndWanted(Activity, _outer, error);
        }
    }

    /// <summary>Ends a span of what was not done after all: exporters leave it out.</summary>
    internal void Abandon()
    {
        if (Activity is not null)
        {
            Activity.IsAllDataRequested = false;
            Activity.ActivityTraceFlags &= ~ActivityTraceFlags.Recorded;
            EndWanted(Activity, _outer, null);
        }
    }

    /// <summary>Ends a span that is kept by its activity, and was never entered.</summary>
    internal static void End(Activity? activity, string? error)
    {
        if (activity is not null)
        {
            EndWanted(activity, null, error);
        }
    }

    private static PoolSpan BeginWanted(ActivitySource source, string name, in ResourceSeries series, Activity? parent)
    {
        Activity? outer = Activity.Current;
        try
        {
            Activity? activity = source.StartActivity(name, ActivityKind.Internal, parent?.Context ?? default, series.Tags());
            return activity is null ? default : new PoolSpan(activity, outer);
        }
        catch (Exception)
        {
            return default; // a listener's own, in the middle of a rental or a return, which must go on
        }
        finally
        {
            SetCurrent(outer);
        }
    }

    private static void EndWanted(Activity activity, Activity? outer, string? error)
    {
        Activity? current = Activity.Current;
        try
        {
            if (error is not null)
            {
                activity.SetStatus(ActivityStatusCode.Error);
                activity.SetTag(Telemetry.ErrorTag, error);
            }

            activity.Stop();
        }
        catch (Exception)
        {
            // As above.
        }
        finally
        {
            SetCurrent(current == activity ? outer : current);
        }
    }

    /// <summary>
    /// Makes an activity current; none where it has ended meanwhile, because the platform refuses an ended one. The platform changes it
    /// before it calls listeners, so one that throws changes nothing.
    /// </summary>
    private static void SetCurrent(Activity? activity)
    {
        try
        {
            if (Activity.Current != activity)
            {
                Activity.Current = activity is { IsStopped: true } ? null : activity;
            }
        }
        catch (Exception)
        {
            // As above.
        }
    }

    private static ActivitySource? NewSource()
    {
        try
        {
            return new ActivitySource(Telemetry.Name);
        }
        catch (Exception)
        {
            return null; // a listener's own, in the middle of the first rental
        }
    }
}
