using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool.Data;

/// <summary>
/// For methods that serve synchronous and asynchronous callers: told by <c>isAsync: false</c>, they await nothing that is not complete, so
/// that they are complete themselves when they return.
/// </summary>
[SuppressMessage("Reliability", "CA2012", Justification = "The task is complete.")]
internal static class SyncOrAsync
{
    internal static void EnsureCompleted(this ValueTask task)
    {
        Check(task.IsCompleted);
        task.GetAwaiter().GetResult();
    }

    internal static T EnsureCompleted<T>(this ValueTask<T> task)
    {
        Check(task.IsCompleted);
        return task.GetAwaiter().GetResult();
    }

    internal static ValueTask DisposeAsync<T>(this T item, bool isAsync)
        where T : IDisposable, IAsyncDisposable
    {
        if (isAsync)
        {
            return item.DisposeAsync();
        }

        item.Dispose();
        return default;
    }

    private static void Check(bool isCompleted)
    {
        if (!isCompleted)
        {
            throw new UnreachableException("A synchronous call met a task that is not complete.");
        }
    }
}
