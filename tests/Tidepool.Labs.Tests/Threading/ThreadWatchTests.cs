namespace Tidepool.Labs.Tests.Threading;

[Collection("counted threads")]
public sealed class ThreadWatchTests
{
    [Fact]
    public void A_thread_counts_once_however_often_it_notes_itself()
    {
        using var watch = new ThreadWatch();
        RunThreads(3, () =>
        {
            watch.Note();
            watch.Note();
        });

        Assert.Equal(3, watch.Distinct);
    }

    [Fact]
    public void A_thread_that_another_watch_has_seen_counts_again()
    {
        using var first = new ThreadWatch();
        first.Note();
        using var second = new ThreadWatch();
        second.Note();

        Assert.Equal(1, first.Distinct);
        Assert.Equal(1, second.Distinct);
    }

    [Fact]
    public void Threads_that_live_at_the_same_time_are_in_the_peak()
    {
        using var watch = new ThreadWatch();
        using var meeting = new Barrier(41);
        Thread[] threads = [.. Enumerable.Range(0, 40).Select(_ => new Thread(() =>
        {
            meeting.SignalAndWait();
            meeting.SignalAndWait();
        }))];
        Array.ForEach(threads, thread => thread.Start());
        meeting.SignalAndWait();
        watch.Stop();
        meeting.SignalAndWait();
        Array.ForEach(threads, thread => thread.Join());

        // Other tests of this process end threads of theirs meanwhile, but not as many.
        Assert.True(watch.Peak >= 20, $"The peak was {watch.Peak}.");
    }

    private static void RunThreads(int count, Action work)
    {
        Thread[] threads = [.. Enumerable.Range(0, count).Select(_ => new Thread(() => work()))];
        Array.ForEach(threads, thread => thread.Start());
        Array.ForEach(threads, thread => thread.Join());
    }
}
