using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

public sealed class ShortLockTests
{
    private ShortLock _gate;
    private long _first;
    private long _second;

    [Fact]
    public void Sections_of_several_threads_never_overlap()
    {
        const int Turns = 50_000;
        bool hasSeenHalf = false;
        Threads.RunAll(4, _ =>
        {
            for (int turn = 0; turn < Turns; turn++)
            {
                _gate.Enter();
                hasSeenHalf |= _first != _second;
                _first++;
                _second++;
                _gate.Exit();
            }
        });
        Assert.False(hasSeenHalf);
        Assert.Equal((4 * Turns, 4 * Turns), (_first, _second));
    }

    [Fact]
    public void A_section_that_throws_leaves_the_lock()
    {
        Assert.Throws<TimeoutException>(ThrowInside);
        Threads.RunAll(1, _ => _gate.Enter()); // would not end otherwise
    }

    private void ThrowInside()
    {
        using (_gate.Hold())
        {
            throw new TimeoutException();
        }
    }

    [Fact]
    public void A_waiting_thread_enters_once_the_holder_has_left()
    {
        using ManualResetEventSlim isHeld = new();
        using ManualResetEventSlim mayLeave = new();
        bool hasLeft = false;
        Threads.RunAll(2, thread =>
        {
            if (thread == 0)
            {
                using (_gate.Hold())
                {
                    isHeld.Set();
                    mayLeave.Wait();
                    hasLeft = true;
                }
            }
            else
            {
                isHeld.Wait();
                mayLeave.Set();
                using (_gate.Hold())
                {
                    Assert.True(hasLeft);
                }
            }
        });
    }
}
