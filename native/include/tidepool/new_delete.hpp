// Replaces operator new and operator delete of the whole program, in all forms: plain, array, nothrow, sized, aligned.
// Include it in exactly one source file of a program; the linker reports a second one. Programs that cannot be built anew
// use the preload library instead.
//
// When memory is used up, as the standard demands, the new handler is called until memory comes, there is none (then
// std::bad_alloc, or null from the nothrow forms), or it throws. Without exceptions the throwing forms abort with a message.
//
// Blocks are those of tidepool.h; every form of delete takes blocks of every form of new. Cost: as tp::allocate.
#ifndef TIDEPOOL_NEW_DELETE_HPP
#define TIDEPOOL_NEW_DELETE_HPP

#include "detail/language.h"

#include <cstddef>
#include <new>

#include "detail/support.hpp"

namespace tp::detail {

// Asks the new handler for memory; null when there is no handler.
[[gnu::cold, gnu::noinline]] inline void* new_after_failure(std::size_t size, std::size_t alignment) {
  for (;;) {
    std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) return nullptr;
    handler();
    if (void* block = rent_bytes(size, alignment)) return block;
  }
}

[[gnu::always_inline]] inline void* new_block(std::size_t size, std::size_t alignment = default_alignment) {
  void* block = rent_bytes(size, alignment);
  if (TP_UNLIKELY(block == nullptr)) {
    block = new_after_failure(size, alignment);
    if (block == nullptr) out_of_memory(size);
  }
  return block;
}

[[gnu::always_inline]] inline void* new_block_nothrow(std::size_t size, std::size_t alignment = default_alignment) noexcept {
  void* block = rent_bytes(size, alignment);
  if (TP_LIKELY(block != nullptr)) return block;
#if defined(__cpp_exceptions)
  try {
    return new_after_failure(size, alignment);
  } catch (...) {
    return nullptr;
  }
#else
  return new_after_failure(size, alignment);
#endif
}

constexpr std::size_t bytes_of(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace tp::detail

void* operator new(std::size_t size) { return tp::detail::new_block(size); }
void* operator new[](std::size_t size) { return tp::detail::new_block(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return tp::detail::new_block_nothrow(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return tp::detail::new_block_nothrow(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return tp::detail::new_block(size, tp::detail::bytes_of(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return tp::detail::new_block(size, tp::detail::bytes_of(alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return tp::detail::new_block_nothrow(size, tp::detail::bytes_of(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return tp::detail::new_block_nothrow(size, tp::detail::bytes_of(alignment));
}

void operator delete(void* block) noexcept { tp::detail::deallocate(block); }
void operator delete[](void* block) noexcept { tp::detail::deallocate(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { tp::detail::deallocate(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { tp::detail::deallocate(block); }
void operator delete(void* block, std::align_val_t) noexcept { tp::detail::deallocate(block); }
void operator delete[](void* block, std::align_val_t) noexcept { tp::detail::deallocate(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { tp::detail::deallocate(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept { tp::detail::deallocate(block); }
void operator delete(void* block, std::size_t size) noexcept { tp::detail::return_bytes(block, size); }
void operator delete[](void* block, std::size_t size) noexcept { tp::detail::return_bytes(block, size); }
void operator delete(void* block, std::size_t size, std::align_val_t alignment) noexcept {
  tp::detail::return_bytes(block, size, tp::detail::bytes_of(alignment));
}
void operator delete[](void* block, std::size_t size, std::align_val_t alignment) noexcept {
  tp::detail::return_bytes(block, size, tp::detail::bytes_of(alignment));
}

#endif
