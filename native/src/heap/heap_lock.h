// The lock of a heap: almost free for the thread whose heap it is, as long as no other thread comes.
//
// A locked instruction waits for the program's own stores to reach the cache: a thread that fills its magazine a few times
// in a microsecond, and has just written to fresh blocks, spends most of its time there. So the owner of an open lock
// enters by a plain store and a look. Everyone else, and the owner when the lock is not open, takes the inner lock; a
// visitor then shuts the lock, makes every core of the process see that (a barrier of the system), and waits until the
// owner is outside. (Biased locking with an asymmetric fence: D. Dice, M. Moir, W. Scherer, "Quickly reacquirable locks",
// 2003.)
//
//   open  inner  owner  |
//   1     free   out    | no thread is inside
//   1     free   in     | the owner is inside; it never waits
//   0     held   in     | a visitor waits for the owner, which comes in no second time: it finds the lock shut
//   0     held   out    | one visitor, or the owner by way of the inner lock, is inside
//   0     free   out    | no thread is inside, and none may enter without the inner lock: a heap without a thread, and
//                       | every heap where the system has no such barrier
//
// Only a holder of the inner lock changes `open`; only the owner changes `owner`. All zero is the last state.
#pragma once

#include "base/config.h"
#include "os/lock.h"

namespace tp {

class HeapLock {
 public:
  // By the thread whose heap it is.
  void lock_as_owner() {
    TP_ASSERT(!owner_is_inside());
    inside_.store(1, std::memory_order_relaxed);
    // The look must not come before the store: the compiler keeps the order, and the visitor's barrier the processor.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (TP_UNLIKELY(open_.load(std::memory_order_acquire) == 0)) lock_shut_as_owner();
  }
  void unlock_as_owner() {
    TP_ASSERT(is_held());
    if (TP_LIKELY(inside_.load(std::memory_order_relaxed) != 0)) inside_.store(0, std::memory_order_release);
    else inner_.unlock();
  }

  // By anyone else; the owner may, too, when it is not inside.
  void lock() {
    start_visit();
    if (shut_by_visitor_) meet_owner();
  }
  bool try_lock() {
    if (!inner_.try_lock()) return false;
    shut();
    if (shut_by_visitor_) meet_owner();
    return true;
  }
  void unlock() {
    if (shut_by_visitor_) {
      shut_by_visitor_ = false;
      open_.store(1, std::memory_order_release);
    }
    inner_.unlock();
  }

  // lock() in two steps, so that one barrier serves many locks: start all, then the barrier, then finish all.
  void start_visit() {
    inner_.lock();
    shut();
  }
  void finish_visit() {
    while (inside_.load(std::memory_order_acquire) != 0) wait_for_owner();
  }

  // Makes the calling thread the owner; there is none before.
  void open_for_owner() {
    Locked locked(inner_);
    if (os::has_barrier_of_process()) open_.store(1, std::memory_order_release);
  }
  // Ends the ownership. By the owner, outside of the lock.
  void close_for_owner() {
    TP_ASSERT(!owner_is_inside());
    Locked locked(inner_);
    open_.store(0, std::memory_order_relaxed);
  }

  // For assertions: held by any thread; held by the owner, by way of the open lock.
  bool is_held() const { return owner_is_inside() || inner_.is_held(); }
  bool owner_is_inside() const { return inside_.load(std::memory_order_relaxed) != 0; }

  // In the child of a fork, where no thread is inside.
  void reset(bool owned) {
    inner_.reset();
    shut_by_visitor_ = false;
    inside_.store(0, std::memory_order_relaxed);
    open_.store(owned && os::has_barrier_of_process() ? 1 : 0, std::memory_order_relaxed);
  }

 private:
  TP_NOINLINE void meet_owner() {
    os::barrier_of_process();
    finish_visit();
  }

  void shut() {
    if (open_.load(std::memory_order_relaxed) == 0) return;
    open_.store(0, std::memory_order_seq_cst);
    shut_by_visitor_ = true;
  }

  TP_NOINLINE void lock_shut_as_owner() {
    inside_.store(0, std::memory_order_release);
    inner_.lock();
  }

  // The owner's stay is short, but it may have lost its core.
  TP_NOINLINE void wait_for_owner() {
    for (int spins = 0; spins < 64; ++spins) {
      pause_processor();
      if (inside_.load(std::memory_order_relaxed) == 0) return;
    }
    os::wait(&inside_, 1, 1);
  }

  std::atomic<uint32_t> inside_{0};  // the owner, by the open lock
  std::atomic<uint32_t> open_{0};
  Lock inner_;
  bool shut_by_visitor_ = false;     // under the inner lock; its holder opens the lock again on leaving
};

// The calling thread's own heap.
class LockedAsOwner {
 public:
  explicit LockedAsOwner(HeapLock& lock) : lock_(lock) { lock_.lock_as_owner(); }
  ~LockedAsOwner() { lock_.unlock_as_owner(); }
  LockedAsOwner(const LockedAsOwner&) = delete;
  LockedAsOwner& operator=(const LockedAsOwner&) = delete;

 private:
  HeapLock& lock_;
};

}  // namespace tp
