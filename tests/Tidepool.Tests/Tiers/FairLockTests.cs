using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

public sealed class FairLockTests
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(10); // longer than a test may take

    [Fact]
    public void A_fair_turn_lets_a_waiting_thread_go_first() => Threads.Run(() =>
    {
        const int Rounds = 20; // an unfair turn would come first in nearly all
        var gate = new FairLock();
        for (int round = 0; round < Rounds; round++)
        {
            bool hasEntered = false;
            Thread waiter;
            using (gate.Hold())
            {
                waiter = Start(() => Enter(gate, () => hasEntered = true));
                Eventually.True(() => gate.Waiting == 1 && IsAsleep(waiter), "the other thread asleep at the lock");
            }

            TimeSpan timeLeft = Long;
            using (gate.HoldFairly(ref timeLeft))
            {
                Assert.True(hasEntered);
            }

            Join(waiter);
        }
    });

    [Fact]
    public void A_fair_turn_waits_for_a_tenth_of_the_time_and_then_no_longer()
    {
        var time = TimeSpan.FromSeconds(5);
        TimeSpan timeLeft = time;
        WhileAnotherWaits(gate => gate.HoldFairly(ref timeLeft).Dispose());
        Assert.InRange(timeLeft, TimeSpan.Zero, time - (time / 10));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(long.MinValue)]
    public void Without_time_left_a_fair_turn_enters_like_any_other(long ticks)
    {
        TimeSpan timeLeft = new(ticks);
        WhileAnotherWaits(gate => gate.HoldFairly(ref timeLeft).Dispose());
        Assert.Equal(new(ticks), timeLeft);
    }

    [Fact]
    public void No_time_is_taken_where_no_thread_waits()
    {
        TimeSpan timeLeft = Long;
        var gate = new FairLock();
        for (int turn = 0; turn < 100; turn++)
        {
            gate.HoldFairly(ref timeLeft).Dispose();
        }

        Assert.Equal(Long, timeLeft);
    }

    [Fact]
    public void The_holder_does_not_wait_for_those_that_wait_for_it() => Threads.Run(() =>
    {
        var gate = new FairLock();
        Thread waiter;
        using (gate.Hold())
        {
            waiter = Start(() => Enter(gate, static () => { }));
            Eventually.True(() => gate.Waiting == 1, "the other thread at the lock");
            TimeSpan timeLeft = Long;
            using (gate.HoldFairly(ref timeLeft))
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
        var gate = new FairLock();
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
        var gate = new FairLock();
        long first = 0, second = 0;
        bool hasSeenHalf = false;
        Threads.RunAll(4, thread =>
        {
            TimeSpan timeLeft = thread == 0 ? TimeSpan.FromMilliseconds(100) : TimeSpan.Zero;
            for (int turn = 0; turn < Turns; turn++)
            {
                using (thread == 0 ? gate.HoldFairly(ref timeLeft) : gate.Hold())
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

    /// <summary>Lets a thread take a turn while another one waits for a lock that is held, and frees it when both wait.</summary>
    private static void WhileAnotherWaits(Action<FairLock> turn)
    {
        var gate = new FairLock();
        Thread first, second;
        using (gate.Hold())
        {
            first = Start(() => Enter(gate, static () => { }));
            Eventually.True(() => gate.Waiting == 1, "the first thread at the lock");
            second = Start(() => turn(gate));
            Eventually.True(() => gate.Waiting == 2, "the second thread at the lock too, although the first one still waits");
        }

        Join(first);
        Join(second);
        Assert.Equal(0, gate.Waiting);
    }

    private static void Enter(FairLock gate, Action inside)
    {
        using (gate.Hold())
        {
            inside();
        }
    }

    private static Thread Start(Action body)
    {
        var thread = new Thread(() => body())
        {
            IsBackground = true,
        };
        thread.Start();
        return thread;
    }

    private static bool IsAsleep(Thread thread) => thread.ThreadState.HasFlag(ThreadState.WaitSleepJoin);

    private static void Join(Thread thread) => Assert.True(thread.Join(Eventually.Limit), "The thread did not end.");
}
