// The lock of a heap: one thread inside at a time, owner or visitor, whether it is open for an owner or not.
#include "heap/heap_lock.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/process.h"

namespace {

using namespace tp;

// Not atomic: two threads inside at a time lose steps, and a thread that does not see what the one before wrote does, too.
struct Guarded {
  HeapLock lock;
  uint64_t steps = 0;
  uint64_t twin = 0;

  void step() {
    EXPECT_EQ(steps, twin);
    ++steps;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    ++twin;
  }
};

// One owner, three visitors.
void meet() {
  Guarded guarded;
  constexpr uint64_t of_owner = 2'000'000, of_visitor = 3'000;
  constexpr int visitors = 3;
  std::atomic<uint64_t> tried{0};
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    guarded.lock.open_for_owner();
    for (uint64_t i = 0; i < of_owner; ++i) {
      LockedAsOwner locked(guarded.lock);
      guarded.step();
    }
    guarded.lock.close_for_owner();
  });
  for (int visitor = 0; visitor < visitors; ++visitor) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < of_visitor; ++i) {
        {
          Locked locked(guarded.lock);
          guarded.step();
        }
        if (guarded.lock.try_lock()) {
          guarded.step();
          guarded.lock.unlock();
          tried.fetch_add(1, std::memory_order_relaxed);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(of_owner + visitors * of_visitor + tried.load(), guarded.steps);
  EXPECT_EQ(guarded.steps, guarded.twin);
}

// One owner after the other, and a visitor all the time.
void pass_on() {
  Guarded guarded;
  constexpr int owners = 1000, steps = 500;
  std::atomic<bool> done{false};
  uint64_t visits = 0;
  std::thread visitor([&] {
    while (!done.load(std::memory_order_relaxed)) {
      {
        Locked locked(guarded.lock);
        guarded.step();
      }
      // The lock is not fair: an owner that was woken up needs a moment to come.
      if (++visits % 16 == 0) usleep(100);
    }
  });
  for (int owner = 0; owner < owners; ++owner) {
    std::thread([&] {
      guarded.lock.open_for_owner();
      for (int i = 0; i < steps; ++i) {
        LockedAsOwner locked(guarded.lock);
        guarded.step();
      }
      guarded.lock.close_for_owner();
      // What a thread still does when it has given its heap up.
      LockedAsOwner locked(guarded.lock);
      guarded.step();
    }).join();
  }
  done = true;
  visitor.join();
  EXPECT_EQ(owners * (steps + 1) + visits, guarded.steps);
}

TEST(HeapLock, ExcludesOwnerAndVisitors) { meet(); }

TEST(HeapLock, PassesFromOwnerToOwner) { pass_on(); }

// A sandbox may forbid the system's barrier when the process already relies on it.
TEST(HeapLock, ExcludesThemWhereTheBarrierIsForbidden) {
  if (!os::has_barrier_of_process()) GTEST_SKIP() << "there is no barrier to forbid";
  IN_A_PROCESS_OF_ITS_OWN({
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program{4, rules};
    bool forbidden = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    if (forbidden) {
      EXPECT_NE(0, syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
      pass_on();
    } else {
      fprintf(stderr, "no system calls can be forbidden here\n");
    }
  });
}

TEST(HeapLock, IsVisitedInTwoSteps) {
  Guarded guarded[3];
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  uint64_t own[3] = {};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      guarded[i].lock.open_for_owner();
      while (!done.load(std::memory_order_relaxed)) {
        LockedAsOwner locked(guarded[i].lock);
        guarded[i].step();
        ++own[i];
      }
    });
  }
  constexpr uint64_t visits = 500;
  for (uint64_t visit = 0; visit < visits; ++visit) {
    for (Guarded& g : guarded) g.lock.start_visit();
    if (os::has_barrier_of_process()) os::barrier_of_process();
    for (Guarded& g : guarded) g.lock.finish_visit();
    for (Guarded& g : guarded) g.step();
    for (Guarded& g : guarded) g.lock.unlock();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(own[i] + visits, guarded[i].steps);
}

TEST(HeapLock, IsFreeAfterReset) {
  HeapLock lock;
  lock.open_for_owner();
  lock.lock_as_owner();
  lock.reset(true);
  {
    LockedAsOwner locked(lock);
  }
  EXPECT_TRUE(lock.try_lock());
  lock.reset(false);
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(HeapLock, SaysWhetherItIsHeld) {
  HeapLock lock;
  for (bool open : {false, true}) {
    if (open) lock.open_for_owner();
    EXPECT_FALSE(lock.is_held());
    {
      LockedAsOwner locked(lock);
      EXPECT_TRUE(lock.is_held());
      EXPECT_EQ(lock.owner_is_inside(), open && os::has_barrier_of_process());
    }
    EXPECT_FALSE(lock.is_held());
    {
      Locked locked(lock);
      EXPECT_TRUE(lock.is_held());
      EXPECT_FALSE(lock.owner_is_inside());
    }
    EXPECT_FALSE(lock.is_held());
  }
}

}  // namespace
