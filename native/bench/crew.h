// Threads that wait between measurements and then work at the same time.
#ifndef TIDEPOOL_BENCH_CREW_H
#define TIDEPOOL_BENCH_CREW_H

#include <pthread.h>
#include <sched.h>

#include <atomic>

#include "clock.h"

namespace bench {

// The calling thread is member 0, so that with one member nothing but the work happens. Each member takes its own start
// and end after all have met: waking them is not measured, the wall time is the last end minus the first start.
class crew {
 public:
  using work = void (*)(void* context, unsigned member);
  static constexpr unsigned most = 64;

  // Lets members 0 .. count - 1 do the work once; returns the wall time in nanoseconds.
  static std::uint64_t run(unsigned count, work what, void* context) {
    crew& all = instance();
    all.grow(count);
    all.what_ = what;
    all.context_ = context;
    all.arrived_.store(0, std::memory_order_relaxed);
    all.done_.store(0, std::memory_order_relaxed);
    if (count > 1) {
      all.turn_.store(next_turn(all.turn_.load(std::memory_order_relaxed), count), std::memory_order_release);
      all.turn_.notify_all();
    }
    all.take_part(0, count);
    while (all.done_.load(std::memory_order_acquire) < count) sched_yield();
    std::uint64_t first = all.began_[0], last = all.ended_[0];
    for (unsigned member = 1; member < count; ++member) {
      if (all.began_[member] < first) first = all.began_[member];
      if (all.ended_[member] > last) last = all.ended_[member];
    }
    return last - first;
  }

 private:
  static crew& instance() {
    static crew all;
    return all;
  }

  // A turn says by itself who takes part: a member that wakes late cannot mistake the next turn's count for its own.
  static std::uint64_t next_turn(std::uint64_t turn, unsigned count) { return (((turn >> 8) + 1) << 8) | count; }

  void grow(unsigned count) {
    for (; started_ < count; ++started_) {
      if (started_ == 0) continue;
      seen_[started_] = turn_.load(std::memory_order_relaxed);
      pthread_t thread;
      if (pthread_create(&thread, nullptr, serve, &seen_[started_]) != 0) {
        std::perror("pthread_create");
        std::abort();
      }
      pthread_detach(thread);
    }
  }

  static void* serve(void* argument) {
    crew& all = instance();
    std::uint64_t& seen = *static_cast<std::uint64_t*>(argument);
    unsigned member = static_cast<unsigned>(&seen - all.seen_);
    while (true) {
      all.turn_.wait(seen, std::memory_order_acquire);
      seen = all.turn_.load(std::memory_order_acquire);
      unsigned count = static_cast<unsigned>(seen & 0xff);
      if (member < count) all.take_part(member, count);
    }
    return nullptr;
  }

  void take_part(unsigned member, unsigned count) {
    arrived_.fetch_add(1, std::memory_order_acq_rel);
    while (arrived_.load(std::memory_order_acquire) < count) sched_yield();
    began_[member] = now();
    what_(context_, member);
    ended_[member] = now();
    done_.fetch_add(1, std::memory_order_release);
  }

  work what_ = nullptr;
  void* context_ = nullptr;
  unsigned started_ = 0;
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<unsigned> arrived_{0};
  std::atomic<unsigned> done_{0};
  std::uint64_t seen_[most] = {};
  std::uint64_t began_[most] = {};
  std::uint64_t ended_[most] = {};
};

}  // namespace bench
#endif
