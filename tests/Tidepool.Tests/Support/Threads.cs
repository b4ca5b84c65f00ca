using System.Diagnostics.CodeAnalysis;
using System.Runtime.ExceptionServices;

namespace Tidepool.Tests.Support;

/// <summary>Runs code on threads of its own and brings a failure back to the test.</summary>
public static class Threads
{
    /// <summary>Runs on a new thread, which has ended when this returns.</summary>
    public static void Run(Action body)
    {
        Run<object?>(() =>
        {
            body();
            return null;
        });
    }

    /// <summary>Runs on a new thread, which has ended when this returns.</summary>
    public static TResult Run<TResult>(Func<TResult> body)
    {
        TResult result = default!;
        RunAll(1, _ => result = body());
        return result;
    }

    /// <summary>Runs on <paramref name="count"/> new threads that start together; all have ended when this returns.</summary>
    [SuppressMessage("Design", "CA1031", Justification = "The failure is thrown again on the caller's thread.")]
    public static void RunAll(int count, Action<int> body)
    {
        using Barrier start = new(count);
        Exception?[] failures = new Exception?[count];
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++)
        {
            int index = i;
            threads[i] = new Thread(() =>
            {
                try
                {
                    start.SignalAndWait();
                    body(index);
                }
                catch (Exception failure)
                {
                    failures[index] = failure;
                }
            })
            { IsBackground = true, Name = $"test {index}" };
            threads[i].Start();
        }

        foreach (Thread thread in threads)
        {
            Assert.True(thread.Join(TimeSpan.FromMinutes(4)), "A test thread did not end within four minutes.");
        }

        Exception? first = failures.FirstOrDefault(f => f is not null);
        if (first is not null)
        {
            ExceptionDispatchInfo.Capture(first).Throw();
        }
    }
}
