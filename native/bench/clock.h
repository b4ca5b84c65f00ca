// Time and raw memory for the drivers. Nothing here allocates by malloc: the drivers measure it.
#ifndef TIDEPOOL_BENCH_CLOCK_H
#define TIDEPOOL_BENCH_CLOCK_H

#include <sys/mman.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace bench {

// Nanoseconds since some fixed point.
inline std::uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

// Zeroed memory of the system; the program ends when there is none.
inline void* map(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::abort();
  }
  return memory;
}

// An array outside of every allocator.
template <class T>
class mapped {
 public:
  explicit mapped(std::size_t count) : bytes_(count * sizeof(T)), items_(static_cast<T*>(map(bytes_))) {}
  ~mapped() { munmap(items_, bytes_); }
  mapped(const mapped&) = delete;
  mapped& operator=(const mapped&) = delete;

  T& operator[](std::size_t index) { return items_[index]; }
  T* get() { return items_; }

 private:
  std::size_t bytes_;
  T* items_;
};

// A small generator (xorshift64*): the same seed gives the same sizes to every subject.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  std::uint32_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 0x2545f4914f6cdd1du) >> 32);
  }

  // 0 .. limit - 1
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>((std::uint64_t{next()} * limit) >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace bench
#endif
