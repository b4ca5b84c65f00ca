// What the tests of the C++ headers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "tidepool/tidepool.h"

namespace tests {

inline bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

// A number that the compiler does not know: it warns about allocations that it sees must fail.
inline std::size_t hidden(std::size_t number) {
  volatile std::size_t copy = number;
  return copy;
}

// Counts its live objects; the constructor throws when the countdown reaches zero.
struct counted {
  static inline int live = 0;
  static inline int until_throw = -1;

  explicit counted(int number = 0) : value(number) {
    if (until_throw >= 0 && until_throw-- == 0) throw std::runtime_error("constructor");
    ++live;
  }
  counted(const counted& other) : counted(other.value) {}
  counted& operator=(const counted&) = default;
  ~counted() { --live; }

  int value;
  std::byte padding[44]{};
};

// A small generator with a printable seed, the same on every platform.
class random {
 public:
  explicit random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  std::uint32_t below(std::uint32_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state_ >> 33) % limit);
  }

 private:
  std::uint64_t state_;
};

}  // namespace tests
