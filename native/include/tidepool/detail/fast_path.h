// The fast path, inline: what tp_malloc and tp_free do when the thread has a block at hand. Not an interface; use
// tidepool.h or tidepool.hpp. The library and its users must agree on the layout below and on the size classes: the name
// of the thread's heap at link time says which they were built with, so that others neither link nor start.
//
// A thread has a magazine for each bin: an array of pointers to free blocks, the last one freed on top. Neither path
// touches the block itself. Below the first entry lies a null.
//
// One rent (allocate):                              One return (deallocate):
//   1. heap = this thread's heap (one TLS load)       1. heap = this thread's heap
//   2. bin  = table[size]                             2. offset = block - base, low four bits rotated to the top:
//   3. block = the entry below top[bin];                 beyond the span (NULL, foreign, misaligned): slow
//      null (the magazine is empty): slow             3. bin = bins[offset / 64 KiB]
//   4. top[bin] goes down by one entry                4. top[bin] is end[bin] (full, or nothing is cached): slow
//                                                     5. the entry below is the block itself: freed twice: slow
//                                                     6. the entry at top[bin] = block; top[bin] goes up by one
//
// A thread that has no heap yet, or no longer, points to a constant heap whose magazines are empty and full at once, and
// whose span is 0: every path goes slow, so no path asks whether the heap exists.
#ifndef TIDEPOOL_DETAIL_FAST_PATH_H
#define TIDEPOOL_DETAIL_FAST_PATH_H

#include "language.h"

#include <cstddef>
#include <cstdint>

#include "../tidepool.h"
#include "size_classes.h"

namespace tp::detail {

inline constexpr std::size_t slice_size = 65536;
inline constexpr unsigned slice_shift = 16;

struct fast_heap {
  void** top[bin_count];        // of each magazine: one past the entry that is rented next
  void** end[bin_count];        // where top cannot go beyond
  std::uintptr_t base;          // where the first arena begins
  std::uintptr_t span;          // its length / 16; 0 sends every free to the slow path
  const std::uint8_t* bins;     // of each slice of the first arena
  std::uint8_t small[small_bins.size()];
};

#define TP_LIKELY(x) __builtin_expect(!!(x), 1)
#define TP_UNLIKELY(x) __builtin_expect(!!(x), 0)

#if defined(TIDEPOOL_TLS_DYNAMIC)
// For loaders that refuse initial-exec TLS in dlopen (musl). Named, because compilers take a member of a template for local.
#define TP_TLS_MODEL __attribute__((tls_model("global-dynamic")))
#else
#define TP_TLS_MODEL __attribute__((tls_model("initial-exec")))
#endif

// The number goes up with every change of this file that a program built with the earlier one would not survive; the hash
// stands for the size classes and for what follows from them.
inline constexpr unsigned fast_layout = 2;

constexpr std::uint64_t hash_of_classes() {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, a number at a time
  auto add = [&hash](std::uint64_t number) { hash = (hash ^ number) * 0x100000001b3u; };
  for (std::uint32_t size : class_sizes) add(size);
  add(bin_count);
  add(sizeof(fast_heap));
  return hash;
}

// The linker or the loader names this when it finds no such library: the headers were compiled with another table of size
// classes (TIDEPOOL_SIZE_CLASSES), or are those of another version.
template <unsigned Layout, std::uint64_t Table>
struct headers_and_library_have_the_same_size_classes {
  static TP_EXPORT __thread fast_heap* thread_heap TP_TLS_MODEL;
};
using agreed = headers_and_library_have_the_same_size_classes<fast_layout, hash_of_classes()>;
template <>
TP_EXPORT __thread fast_heap* agreed::thread_heap TP_TLS_MODEL;  // defined in the library

extern "C" {
TP_EXPORT void* tp_malloc_slow_(std::size_t size) TP_NOTHROW;
TP_EXPORT void tp_free_slow_(void* block) TP_NOTHROW;
TP_EXPORT void* tp_pool_rent_slow_(tp_pool* pool) TP_NOTHROW;
TP_EXPORT void tp_pool_return_slow_(tp_pool* pool, void* block) TP_NOTHROW;
}

// The front of every tp_pool: what the inline path needs to know.
struct fast_pool {
  std::uint32_t bin;  // 0: this pool has no thread caches
  std::uint32_t block_size;
};

// Returns where the bin's magazine keeps its top; its end lies bin_count words further. The address is computed apart, and the
// magazine then addressed by a register and a constant: with an index in the address, processors that rename memory do not
// see that a rent loads what the return before it stored, and the pair takes 3.8 ns instead of 0.9.
[[gnu::always_inline]] inline void*** magazine_of(fast_heap* heap, std::size_t bin) {
  static_assert(offsetof(fast_heap, end) == bin_count * sizeof(void*));
  void*** magazine = heap->top + bin;
  if (!__builtin_constant_p(bin)) asm("" : "+r"(magazine));
  return magazine;
}

// The block on top of the bin's magazine, or null when it is empty.
[[gnu::always_inline]] inline void* pop(fast_heap* heap, std::size_t bin) {
  void*** magazine = magazine_of(heap, bin);
  void** top = *magazine;
  void* block = top[-1];
  if (TP_LIKELY(block != nullptr)) *magazine = top - 1;
  return block;
}

// Puts the block on top of the bin's magazine. False: it is full, nothing was done.
[[gnu::always_inline]] inline bool push(fast_heap* heap, std::size_t bin, void* block) {
  void*** magazine = magazine_of(heap, bin);
  void** top = *magazine;
  if (TP_UNLIKELY(top == magazine[bin_count])) return false;
  *top = block;
  *magazine = top + 1;
  return true;
}

[[gnu::always_inline]] inline std::uintptr_t rotate_low_bits(std::uintptr_t offset) {
  return (offset >> 4) | (offset << (sizeof(offset) * 8 - 4));
}

[[gnu::always_inline]] inline void* allocate(std::size_t size) {
  fast_heap* heap = agreed::thread_heap;
  std::size_t bin;
  if (TP_LIKELY(size <= small_limit)) {
    bin = heap->small[(size + 15) >> 4];
  } else if (size <= max_class_size) {
    bin = medium_bins[(size + 127) >> 7];
  } else {
    return tp_malloc_slow_(size);
  }
  void* block = pop(heap, bin);
  if (TP_UNLIKELY(block == nullptr)) return tp_malloc_slow_(size);
  return block;
}

// False: the magazine is full, or the block is on top of it already.
[[gnu::always_inline]] inline bool push_once(fast_heap* heap, std::size_t bin, void* block) {
  void*** magazine = magazine_of(heap, bin);
  void** top = *magazine;
  if (TP_UNLIKELY(top == magazine[bin_count])) return false;
  if (TP_UNLIKELY(top[-1] == block)) return false;
  *top = block;
  *magazine = top + 1;
  return true;
}

[[gnu::always_inline]] inline void deallocate(void* block) {
  fast_heap* heap = agreed::thread_heap;
  std::uintptr_t offset = rotate_low_bits(reinterpret_cast<std::uintptr_t>(block) - heap->base);
  if (TP_UNLIKELY(offset >= heap->span)) return tp_free_slow_(block);
  std::size_t bin = heap->bins[offset >> (slice_shift - 4)];
  if (TP_UNLIKELY(!push_once(heap, bin, block))) tp_free_slow_(block);
}

// Frees a block of a size that the caller states and that may be wrong. The bin comes from the size and the map only confirms
// it: the magazine is found without waiting for the block, and a pair takes half the time.
[[gnu::always_inline]] inline void deallocate(void* block, std::size_t size) {
  fast_heap* heap = agreed::thread_heap;
  if (TP_UNLIKELY(size > max_class_size)) return tp_free_sized(block, size);
  std::size_t bin = TP_LIKELY(size <= small_limit) ? heap->small[(size + 15) >> 4] : medium_bins[(size + 127) >> 7];
  std::uintptr_t offset = rotate_low_bits(reinterpret_cast<std::uintptr_t>(block) - heap->base);
  if (TP_UNLIKELY(offset >= heap->span || heap->bins[offset >> (slice_shift - 4)] != bin)) return tp_free_sized(block, size);
  if (TP_UNLIKELY(!push_once(heap, bin, block))) tp_free_slow_(block);
}

#if !defined(TIDEPOOL_CHECKED)
// For sizes known at compile time: no table look-up, and the free trusts its caller (no range check, no class load).
template <std::size_t Size>
[[gnu::always_inline]] inline void* allocate_fixed() {
  static_assert(Size <= max_class_size);
  constexpr std::size_t bin = bin_of(Size);
  void* block = pop(agreed::thread_heap, bin);
  if (TP_UNLIKELY(block == nullptr)) return tp_malloc_slow_(Size);
  return block;
}

template <std::size_t Size>
[[gnu::always_inline]] inline void free_fixed(void* block) {
  constexpr std::size_t bin = bin_of(Size);
  if (TP_UNLIKELY(!push(agreed::thread_heap, bin, block))) tp_free_slow_(block);
}

[[gnu::always_inline]] inline void* rent_from(tp_pool* pool) {
  std::size_t bin = reinterpret_cast<const fast_pool*>(pool)->bin;
  void* block = pop(agreed::thread_heap, bin);
  if (TP_UNLIKELY(block == nullptr)) return tp_pool_rent_slow_(pool);
  return block;
}

// The block must not be null.
[[gnu::always_inline]] inline void return_to(tp_pool* pool, void* block) {
  std::size_t bin = reinterpret_cast<const fast_pool*>(pool)->bin;
  if (TP_UNLIKELY(!push(agreed::thread_heap, bin, block))) tp_pool_return_slow_(pool, block);
}
#else
template <std::size_t Size>
inline void* allocate_fixed() { return tp_malloc(Size); }
template <std::size_t Size>
inline void free_fixed(void* block) { tp_free_sized(block, Size); }
inline void* rent_from(tp_pool* pool) { return tp_pool_rent(pool); }
inline void return_to(tp_pool* pool, void* block) { tp_pool_return(pool, block); }
#endif

}  // namespace tp::detail
#endif
