// Fills a block with bytes that follow from its address, its size and a seed, and verifies them: a block that overlaps
// another one, that moved without its contents or that the library wrote into is noticed.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace test {

inline uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  uint64_t below(uint64_t bound) { return next() % bound; }
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

// Bytes at both ends are written, and of large blocks one word of each 4 KiB: all of a small block.
constexpr size_t covered_end = 512;

template <typename Word>
bool visit_pattern(void* block, size_t size, uint64_t seed, Word word) {
  auto* bytes = static_cast<unsigned char*>(block);
  uint64_t key = mix(reinterpret_cast<uintptr_t>(block) ^ (uint64_t{size} << 32) ^ seed);
  auto range = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; i += 8) {
      if (!word(bytes + i, to - i < 8 ? to - i : 8, mix(key + i))) return false;
    }
    return true;
  };
  if (size <= 2 * covered_end) return range(0, size);
  if (!range(0, covered_end)) return false;
  for (size_t i = 4096; i + 8 <= size - covered_end; i += 4096) {
    if (!word(bytes + i, 8, mix(key + i))) return false;
  }
  return range(size - covered_end, size);
}

inline void fill(void* block, size_t size, uint64_t seed) {
  visit_pattern(block, size, seed, [](unsigned char* at, size_t n, uint64_t value) {
    memcpy(at, &value, n);
    return true;
  });
}

// The pattern of a block of this address, size and seed, also when the bytes are elsewhere by now.
inline bool is_filled(const void* block, size_t size, uint64_t seed) {
  return visit_pattern(const_cast<void*>(block), size, seed, [](unsigned char* at, size_t n, uint64_t value) {
    return memcmp(at, &value, n) == 0;
  });
}

inline bool is_zero(const void* block, size_t size) {
  auto* bytes = static_cast<const unsigned char*>(block);
  return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

// True when no two neighbouring bytes have this value: a freed block that was zeroed may hold the library's own words.
inline bool shows_nothing_of(const void* block, size_t size, unsigned char value) {
  auto* bytes = static_cast<const unsigned char*>(block);
  for (size_t i = 1; i < size; ++i) {
    if (bytes[i - 1] == value && bytes[i] == value) return false;
  }
  return true;
}

inline bool is_aligned(const void* block, size_t alignment) { return reinterpret_cast<uintptr_t>(block) % alignment == 0; }

}  // namespace test
