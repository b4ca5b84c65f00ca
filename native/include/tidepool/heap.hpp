// Heaps: blocks with a common end. Everything a level, a document or a request allocated is gone with one call.
#ifndef TIDEPOOL_HEAP_HPP
#define TIDEPOOL_HEAP_HPP

#include "detail/language.h"

#include <cstddef>
#include <new>
#include <utility>

#include "detail/support.hpp"
#include "pool.hpp"

namespace tp {

// Options of a heap.
struct heap_options {
  const char* name = nullptr;  // in statistics and misuse messages; up to 31 bytes are copied
  std::size_t limit = 0;       // bytes of pages the heap may hold; 0: only the process's limit
  bool zero_on_free = false;   // every block is zeroed when it is freed and with the heap: for secrets
};

// Owns a tp_heap. allocate, deallocate and get_usage may be called from any threads at once; each takes the heap's lock.
class heap {
 public:
  // Throws std::bad_alloc when memory is used up; without exceptions aborts with a message.
  explicit heap(const heap_options& options = {}) : heap(std::nothrow, options) {
    if (handle_ == nullptr) detail::out_of_memory(sizeof(heap));
  }

  // Makes a heap, or one for which operator bool is false and which may only be destroyed.
  explicit heap(std::nothrow_t, const heap_options& options = {}) noexcept {
    tp_heap_options native{};
    native.struct_size = sizeof(native);
    native.name = options.name;
    native.limit = options.limit;
    native.zero_on_free = options.zero_on_free;
    handle_ = tp_heap_create(&native);
  }

  // Blocks stay valid and belong to the new heap. The source may only be destroyed or assigned to.
  heap(heap&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  heap& operator=(heap&& other) noexcept {
    if (this != &other) {
      tp_heap_destroy(handle_);
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  heap(const heap&) = delete;
  heap& operator=(const heap&) = delete;

  // Frees every block at once; no destructors run. Cost: that of its pages, not of its blocks.
  ~heap() { tp_heap_destroy(handle_); }

  // False for a heap that could not be made, or was moved from.
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // A block of size bytes aligned to alignment (a power of two of at most 1 GiB, else null with EINVAL); null with errno
  // ENOMEM when memory or the limit is used up. Never throws.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment = default_alignment) noexcept {
    if (alignment <= default_alignment && detail::is_power_of_two(alignment)) return tp_heap_malloc(handle_, size);
    return tp_heap_aligned_alloc(handle_, alignment, size);
  }

  // Gives a block of this heap back; null does nothing.
  void deallocate(void* block) noexcept { tp_heap_free(handle_, block); }

  // Bytes in use and held. Exact when no other thread uses the heap.
  tp::usage get_usage() const noexcept {
    tp::usage result;
    tp_heap_usage(handle_, &result.live_bytes, &result.held_bytes);
    return result;
  }

  // The heap of tidepool.h, still owned by this object.
  tp_heap* native_handle() const noexcept { return handle_; }

 private:
  tp_heap* handle_ = nullptr;
};

}  // namespace tp
#endif
