// Last in, first out: blocks of any size that are given back in the reverse order of their renting, verified.
//
//   tp::stack_allocator stack({.capacity = 1 << 20});
//   void* a = stack.allocate(1000);
//   void* b = stack.allocate(64, 64);
//   stack.deallocate(b);
//   stack.deallocate(a);
//
// A stack is used by one thread at a time.
#ifndef TIDEPOOL_STACK_ALLOCATOR_HPP
#define TIDEPOOL_STACK_ALLOCATOR_HPP

#include "detail/language.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "detail/support.hpp"

namespace tp {

// Options of a stack.
struct stack_options {
  std::size_t capacity = 64 * 1024;  // bytes of its first chunk, which the block headers share
  bool grows = false;                // takes further chunks of at least this size when the first one is full
};

// Each block has a header of 16 bytes that links to the block below and carries a check value, so deallocate notices a
// block that is not the top, and one whose header was overwritten from below; both abort with a message.
class stack_allocator {
 public:
  // Over memory of the library. The first chunk is taken at the first allocation.
  explicit stack_allocator(const stack_options& options = {}) noexcept : options_(options) {}

  // Over the caller's memory, which must live longer; never grows.
  explicit stack_allocator(std::span<std::byte> memory) noexcept
      : position_(reinterpret_cast<std::uintptr_t>(memory.data())), end_(position_ + memory.size()) {
    options_.capacity = memory.size();
    owns_memory_ = false;
  }

  stack_allocator(const stack_allocator&) = delete;
  stack_allocator& operator=(const stack_allocator&) = delete;

  // Frees all memory, blocks that are still live included.
  ~stack_allocator() {
    free_chunks(spare_);
    free_chunks(chunk_);
  }

  // A block of size bytes aligned to alignment (a power of two of at most 1 GiB, else null with errno EINVAL), contents
  // undefined. Null with errno ENOMEM when the capacity, or for a stack that grows memory, is used up. Never throws. Cost:
  // some 15 instructions.
  [[nodiscard]] void* try_allocate(std::size_t size, std::size_t alignment = default_alignment) noexcept {
    if (TP_UNLIKELY(!detail::is_power_of_two(alignment) || alignment > most_alignment)) {
      errno = EINVAL;
      return nullptr;
    }
    if (alignment < default_alignment) alignment = default_alignment;
    std::uintptr_t start = detail::align_up(position_ + sizeof(header), alignment);
    if (TP_UNLIKELY(start > end_ || size > end_ - start || position_ == 0)) {
      if (!add_chunk(size, alignment)) return nullptr;
      start = detail::align_up(position_ + sizeof(header), alignment);
    }
    ::new (reinterpret_cast<void*>(start - sizeof(header)))
        header{top_, static_cast<std::uint32_t>(start - position_), check_value(start, top_)};
    top_ = start;
    position_ = start + size;
    ++live_;
    return reinterpret_cast<void*>(start);
  }

  // Allocates, or throws std::bad_alloc; without exceptions returns null.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment = default_alignment) {
    void* block = try_allocate(size, alignment);
#if defined(__cpp_exceptions)
    if (TP_UNLIKELY(block == nullptr)) detail::out_of_memory(size);
#endif
    return block;
  }

  // Gives back the youngest live block; null does nothing. Any other block, and one whose header was overwritten, aborts
  // with a message that names it. Cost: some 12 instructions.
  void deallocate(void* block) noexcept {
    if (block == nullptr) return;
    std::uintptr_t start = reinterpret_cast<std::uintptr_t>(block);
    if (TP_UNLIKELY(start != top_)) detail::fatal("stack block freed out of order: it is not the youngest", block, 0);
    const header* head = reinterpret_cast<const header*>(start - sizeof(header));
    if (TP_UNLIKELY(head->check != check_value(start, head->below))) {
      detail::fatal("stack block's header was overwritten by the block below it", block, 0);
    }
    top_ = head->below;
    position_ = start - head->back;
    --live_;
    if (TP_UNLIKELY(chunk_ != nullptr && position_ == chunk_->begin())) leave_chunk();
  }

  // The number of live blocks, and true when there is none.
  std::size_t live() const noexcept { return live_; }
  bool empty() const noexcept { return live_ == 0; }

  // Bytes of the caller's memory, or of the first chunk: the stack is full, or grows, when they are used up.
  std::size_t capacity() const noexcept { return options_.capacity; }

  // The youngest live block, null for none.
  void* top() const noexcept { return reinterpret_cast<void*>(top_); }

 private:
  static constexpr std::size_t most_alignment = std::size_t{1} << 30;
  static constexpr std::size_t most_capacity = static_cast<std::size_t>(PTRDIFF_MAX) - 4096;  // no block is larger

  struct header {
    std::uintptr_t below;  // the block under this one
    std::uint32_t back;    // bytes from the position before this block to its start
    std::uint32_t check;
  };
  static_assert(sizeof(header) <= default_alignment);

  // In front of each chunk: where the stack goes on when the chunk is empty.
  struct chunk {
    chunk* below;
    std::size_t size;
    std::uintptr_t position_below;
    std::uintptr_t end_below;

    std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(this + 1); }
    std::uintptr_t end() const { return reinterpret_cast<std::uintptr_t>(this) + size; }
  };

  // Mixes all bits of both addresses, so that a header that was moved or half overwritten does not pass.
  static std::uint32_t check_value(std::uintptr_t start, std::uintptr_t below) noexcept {
    std::uint64_t mixed = (std::uint64_t{start} ^ (std::uint64_t{below} << 17 | std::uint64_t{below} >> 47)) * 0x9E3779B97F4A7C15u;
    return static_cast<std::uint32_t>(mixed >> 32) | 1;
  }

  [[gnu::noinline]] bool add_chunk(std::size_t size, std::size_t alignment) noexcept {
    std::size_t needed = size + sizeof(chunk) + sizeof(header) + alignment;
    bool may_grow = owns_memory_ && (chunk_ == nullptr || options_.grows);
    if (!may_grow || needed < size || options_.capacity > most_capacity || (!options_.grows && !fits_capacity(size, alignment))) {
      errno = ENOMEM;
      return false;
    }
    chunk* next = std::exchange(spare_, nullptr);
    if (next != nullptr && next->size < needed) {
      free_chunks(std::exchange(next, nullptr));
    }
    if (next == nullptr) {
      std::size_t bytes = options_.grows ? std::max(needed, options_.capacity) : options_.capacity + sizeof(chunk);
      void* memory = detail::rent_bytes(bytes);
      if (memory == nullptr) return false;
      next = ::new (memory) chunk{nullptr, bytes, 0, 0};
    }
    next->below = chunk_;
    next->position_below = position_;
    next->end_below = end_;
    chunk_ = next;
    position_ = next->begin();
    end_ = next->end();
    return true;
  }

  // True when a block fits into an empty chunk of a stack that does not grow, wherever the chunk begins.
  bool fits_capacity(std::size_t size, std::size_t alignment) const noexcept {
    std::size_t overhead = sizeof(header) + (alignment > default_alignment ? alignment : 0);
    return size <= options_.capacity && overhead <= options_.capacity - size;
  }

  // The chunk is empty: the stack goes on below. One empty chunk is kept, so that a stack that moves up and down at the
  // border of two chunks does not take and free memory each time.
  [[gnu::noinline]] void leave_chunk() noexcept {
    if (chunk_->below == nullptr) return;
    free_chunks(spare_);
    spare_ = chunk_;
    position_ = chunk_->position_below;
    end_ = chunk_->end_below;
    chunk_ = std::exchange(spare_->below, nullptr);
  }

  static void free_chunks(chunk* list) noexcept {
    while (list != nullptr) {
      chunk* below = list->below;
      detail::return_bytes(list, list->size);
      list = below;
    }
  }

  std::uintptr_t position_ = 0;  // where the next header may begin; 0 before the first chunk
  std::uintptr_t end_ = 0;
  std::uintptr_t top_ = 0;  // the youngest block
  std::size_t live_ = 0;
  chunk* chunk_ = nullptr;
  chunk* spare_ = nullptr;
  stack_options options_;
  bool owns_memory_ = true;
};

}  // namespace tp
#endif
