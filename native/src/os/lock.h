// A lock of four bytes that needs no initialisation, may live in zeroed pages, and survives fork (reset in the child).
#pragma once

#include "os/assert.h"
#include "os/os.h"

namespace tp {

inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

class Lock {
 public:
  void lock() {
    uint32_t free = 0;
    if (!state_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) lock_slow();
  }

  bool try_lock() {
    uint32_t free = 0;
    return state_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }

  void unlock() {
    TP_ASSERT(is_held());
    if (state_.exchange(0, std::memory_order_release) == 2) os::wake_one(&state_);
  }

  // For assertions: held by any thread.
  bool is_held() const { return state_.load(std::memory_order_relaxed) != 0; }

  // Frees the lock in the child of a fork, where the thread that held it does not exist.
  void reset() { state_.store(0, std::memory_order_relaxed); }

 private:
  TP_NOINLINE void lock_slow() {
    for (int spins = 0; spins < 64; ++spins) {
      pause_processor();
      if (state_.load(std::memory_order_relaxed) == 0 && try_lock()) return;
    }
    while (state_.exchange(2, std::memory_order_acquire) != 0) os::wait(&state_, 2, 0);
  }

  std::atomic<uint32_t> state_{0};  // 0 free, 1 held, 2 held and a thread sleeps
};

template <typename L>
class Locked {
 public:
  explicit Locked(L& lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  L& lock_;
};

}  // namespace tp
