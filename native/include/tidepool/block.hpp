// Raw blocks through the inline fast path: tp_malloc and tp_free without the call.
//
//   void* block = tp::allocate(n);            sizes known at run time
//   tp::deallocate(block, n);
//   void* fixed = tp::allocate<48>();         sizes known at compile time: the shortest path there is
//   tp::deallocate<48>(fixed);
//
// Nothing here throws. Any thread may give back a block of any other. Blocks are those of tidepool.h: what one interface
// allocates the other may free.
#ifndef TIDEPOOL_BLOCK_HPP
#define TIDEPOOL_BLOCK_HPP

#include "detail/language.h"

#include <cstddef>

#include "detail/support.hpp"

namespace tp {

// A block of at least size bytes, aligned to 16, contents undefined; null with errno ENOMEM when memory or a limit is
// used up. Size 0 gives a block of its own. Cost: some 10 instructions up to 32 KiB when this thread has a free block of
// the class, else a call that takes the thread's heap lock.
[[nodiscard]] inline void* allocate(std::size_t size) noexcept { return detail::rent_bytes(size); }

// Allocates a block aligned to a power of two of at most 1 GiB (else null with EINVAL). Above 16 it costs a call.
[[nodiscard]] inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
  return detail::rent_bytes(size, alignment);
}

// Gives a block back; null does nothing. Cost: some 13 instructions up to 32 KiB, whichever thread allocated it.
inline void deallocate(void* block) noexcept { detail::deallocate(block); }

// Frees a block; size (and alignment) must be those of the allocation. The checked library verifies them.
inline void deallocate(void* block, std::size_t size) noexcept { detail::return_bytes(block, size); }
inline void deallocate(void* block, std::size_t size, std::size_t alignment) noexcept {
  detail::return_bytes(block, size, alignment);
}

// A block of Size bytes aligned to Alignment, both known at compile time: no table look-up, also when over-aligned.
// Above 32 KiB as allocate(Size, Alignment). Null with ENOMEM when memory or a limit is used up.
template <std::size_t Size, std::size_t Alignment = default_alignment>
[[nodiscard]] inline void* allocate() noexcept {
  return detail::rent_fixed<Size, Alignment>();
}

// Gives back a block of allocate<Size, Alignment>(), which must not be null and is trusted: the release library verifies
// nothing here, the checked one everything.
template <std::size_t Size, std::size_t Alignment = default_alignment>
inline void deallocate(void* block) noexcept {
  detail::return_fixed<Size, Alignment>(block);
}

// Bytes of a block that may be used, at least what was asked for; 0 for null. Cost: a call, no lock.
[[nodiscard]] inline std::size_t usable_size(const void* block) noexcept { return tp_usable_size(block); }

}  // namespace tp
#endif
