using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

public sealed class FairLockTests
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(10); // longer than a test may take

    [Fact]
    public void A_fair_turn_lets_a_thread_go_first_that_waits() => Threads.Run(() =>
    {
        const int Rounds = 20; // an unfair turn would come first in nearly all
        var gate = new FairLock(Long);
        for (int round = 0; round < Rounds; round++)
        {
            bool hasEntered = false;
            Thread waiter;
            using (gate.Hold())
            {
                waiter = Start(gate, () => hasEntered = true);
                Eventually.True(() => gate.Waiting == 1 && IsAsleep(waiter), "the other thread asleep at the lock");
            }

            using (gate.Hold(isFair: true))
            {
                Assert.True(hasEntered);
            }

            Join(waiter);
        }
    });

    [Fact]
    public void A_fair_turn_waits_for_others_until_its_timeout()
    {
        var gate = new FairLock(timeout: TimeSpan.Zero);
        Thread first, second;
        using (gate.Hold())
        {
            first = Start(gate, static () => { });
            Eventually.True(() => gate.Waiting == 1, "the first thread at the lock");
            second = Start(gate, static () => { }, isFair: true);
            Eventually.True(() => gate.Waiting == 2, "the second thread at the lock too");
        }

        Join(first);
        Join(second);
        Assert.Equal(0, gate.Waiting);
    }

    [Fact]
    public void The_holder_does_not_wait_for_those_that_wait_for_it() => Threads.Run(() =>
    {
        var gate = new FairLock(Long);
        Thread waiter;
        using (gate.Hold())
        {
            waiter = Start(gate, static () => { });
            Eventually.True(() => gate.Waiting == 1, "the other thread at the lock");
            using (gate.Hold(isFair: true))
            {
                Assert.True(gate.IsHeldByCurrentThread);
            }

            Assert.True(gate.IsHeldByCurrentThread);
        }

        Join(waiter);
        Assert.False(gate.IsHeldByCurrentThread);
    });

    [Fact]
    public void A_thread_that_is_interrupted_waits_no_longer()
    {
        var gate = new FairLock(Long);
        using (gate.Hold())
        {
            bool isInterrupted = false;
            var waiter = new Thread(() =>
            {
                try
                {
                    using (gate.Hold())
                    {
                    }
                }
                catch (ThreadInterruptedException)
                {
                    isInterrupted = true;
                }
            })
            {
                IsBackground = true,
            };
            waiter.Start();
            Eventually.True(() => gate.Waiting == 1, "the other thread at the lock");
            waiter.Interrupt();
            Join(waiter);
            Assert.True(isInterrupted);
            Assert.Equal(0, gate.Waiting);
        }
    }

    [Fact]
    public void Sections_never_overlap_whichever_way_they_enter()
    {
        const int Turns = 20_000;
        var gate = new FairLock(TimeSpan.FromMilliseconds(1));
        long first = 0, second = 0;
        bool hasSeenHalf = false;
        Threads.RunAll(4, thread =>
        {
            for (int turn = 0; turn < Turns; turn++)
            {
                using (gate.Hold(isFair: thread == 0))
                {
                    hasSeenHalf |= first != second;
                    first++;
                    second++;
                }
            }
        });
        Assert.False(hasSeenHalf);
        Assert.Equal((4 * Turns, 4 * Turns, 0), (first, second, gate.Waiting));
    }

    private static Thread Start(FairLock gate, Action inside, bool isFair = false)
    {
        var thread = new Thread(() =>
        {
            using (gate.Hold(isFair))
            {
                inside();
            }
        })
        {
            IsBackground = true,
        };
        thread.Start();
        return thread;
    }

    private static bool IsAsleep(Thread thread) => thread.ThreadState.HasFlag(ThreadState.WaitSleepJoin);

    private static void Join(Thread thread) => Assert.True(thread.Join(Eventually.Limit), "The thread did not end.");
}
