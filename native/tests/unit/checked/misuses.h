// Misuse as tests of the checked library see it: collected instead of fatal.
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "tidepool/tidepool.h"

namespace test {

// A write that is wrong on purpose, unseen by AddressSanitizer, which knows better than this library where blocks end.
[[gnu::noinline, gnu::no_sanitize("address")]] inline void poke(void* at, unsigned char value) {
  *static_cast<volatile unsigned char*>(at) = value;
}
[[gnu::noinline, gnu::no_sanitize("address")]] inline unsigned char peek(const void* at) {
  return *static_cast<const volatile unsigned char*>(at);
}

struct Misuse {
  tp_misuse kind;
  const void* address;
  size_t size;
  std::string message;
};

// While one of these lives, misuse is collected. The test fails at its end when some was not taken.
class Misuses {
 public:
  Misuses() { tp_set_misuse_handler(collect); }
  ~Misuses() {
    tp_set_misuse_handler(nullptr);
    for (const Misuse& misuse : take()) ADD_FAILURE() << misuse.message;
  }

  static std::vector<Misuse> take() {
    std::lock_guard lock(mutex);
    return std::exchange(seen, {});
  }

 private:
  static void collect(tp_misuse kind, const void* address, size_t size, const char* message) {
    std::lock_guard lock(mutex);
    seen.push_back({kind, address, size, message});
  }

  static inline std::mutex mutex;
  static inline std::vector<Misuse> seen;
};

}  // namespace test
