// Shared by the C++ headers: failures with and without exceptions, and how blocks are had. Not an
// interface.
//
// Everything that the headers take from the inline fast path goes through the functions of this file.
#ifndef TIDEPOOL_DETAIL_SUPPORT_HPP
#define TIDEPOOL_DETAIL_SUPPORT_HPP

#include "language.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "fast_path.h"

namespace tp {

// Every block is aligned to this many bytes at least; larger alignments must be asked for.
inline constexpr std::size_t default_alignment = 16;

}  // namespace tp

namespace tp::detail {

// One line on standard error, then abort: misuse, and failures of a build without exceptions that no return value can
// tell. Allocates nothing.
[[noreturn, gnu::cold, gnu::noinline]] inline void fatal(const char* what, const void* address, std::size_t bytes) {
  std::fprintf(stderr, "tidepool: %s (address %p, %zu bytes)\n", what, address, bytes);
  std::abort();
}

// Throws std::bad_alloc; without exceptions aborts with a line that names the size.
[[noreturn, gnu::cold, gnu::noinline]] inline void out_of_memory(std::size_t bytes) {
#if defined(__cpp_exceptions)
  static_cast<void>(bytes);
  throw std::bad_alloc();
#else
  fatal("out of memory", nullptr, bytes);
#endif
}

// Throws std::bad_array_new_length; without exceptions aborts.
[[noreturn, gnu::cold, gnu::noinline]] inline void length_overflow(std::size_t count) {
#if defined(__cpp_exceptions)
  static_cast<void>(count);
  throw std::bad_array_new_length();
#else
  fatal("an array of so many elements is longer than the address space", nullptr, count);
#endif
}

constexpr bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

// The next multiple of a power of two.
constexpr std::uintptr_t align_up(std::uintptr_t n, std::size_t alignment) {
  return (n + alignment - 1) & ~static_cast<std::uintptr_t>(alignment - 1);
}

// count * size, or SIZE_MAX when that does not fit: no allocation of SIZE_MAX bytes succeeds.
constexpr std::size_t saturated_product(std::size_t count, std::size_t size) {
  std::size_t product = 0;
  return __builtin_mul_overflow(count, size, &product) ? SIZE_MAX : product;
}

// ---- Blocks of a size that is known at run time -----------------------------------------------------------------

[[gnu::always_inline]] inline void* rent_bytes(std::size_t size) { return allocate(size); }

// An alignment that is no power of two is refused by the call.
[[gnu::always_inline]] inline void* rent_bytes(std::size_t size, std::size_t alignment) {
  if (alignment <= default_alignment && is_power_of_two(alignment)) return allocate(size);
  return tp_aligned_alloc(alignment, size);
}

// size and alignment are those of the call that rented the block, which the checked library verifies.
[[gnu::always_inline]] inline void return_bytes(void* block, std::size_t size) {
#if defined(TIDEPOOL_CHECKED)
  tp_free_sized(block, size);
#else
  deallocate(block, size);
#endif
}

[[gnu::always_inline]] inline void return_bytes(void* block, std::size_t size, std::size_t alignment) {
#if defined(TIDEPOOL_CHECKED)
  tp_free_aligned_sized(block, alignment, size);
#else
  if (alignment > default_alignment) return deallocate(block);
  deallocate(block, size);
#endif
}

// ---- Blocks of a size that is known at compile time -------------------------------------------------------------

// The smallest class whose blocks hold size bytes at the alignment; 0: no class does. A class's blocks are aligned to
// every power of two that divides the class.
constexpr std::size_t class_for(std::size_t size, std::size_t alignment) {
  for (std::size_t candidate : class_sizes) {
    if (candidate >= size && candidate % alignment == 0) return candidate;
  }
  return 0;
}

template <std::size_t Size, std::size_t Alignment>
[[gnu::always_inline]] inline void* rent_fixed() {
  static_assert(is_power_of_two(Alignment));
#if defined(TIDEPOOL_CHECKED)
  return rent_bytes(Size, Alignment);
#else
  constexpr std::size_t block_size = class_for(Size, Alignment);
  if constexpr (block_size == 0) {
    return rent_bytes(Size, Alignment);
  } else {
    return allocate_fixed<block_size>();
  }
#endif
}

// The block must not be null.
template <std::size_t Size, std::size_t Alignment>
[[gnu::always_inline]] inline void return_fixed(void* block) {
#if defined(TIDEPOOL_CHECKED)
  return_bytes(block, Size, Alignment);
#else
  constexpr std::size_t block_size = class_for(Size, Alignment);
  if constexpr (block_size == 0) {
    return_bytes(block, Size, Alignment);
  } else {
    free_fixed<block_size>(block);
  }
#endif
}

// ---- Construction -----------------------------------------------------------------------------------------------

// Gives a block back unless kept, so that a constructor that throws loses nothing. Return is called with the block.
template <class Return>
class unless_kept {
 public:
  unless_kept(void* block, Return return_block) : block_(block), return_(return_block) {}
  unless_kept(const unless_kept&) = delete;
  unless_kept& operator=(const unless_kept&) = delete;
  ~unless_kept() {
    if (block_ != nullptr) return_(block_);
  }
  void keep() { block_ = nullptr; }

 private:
  void* block_;
  Return return_;
};

}  // namespace tp::detail
#endif
