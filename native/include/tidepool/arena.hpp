// Bump allocation for things that end together: a frame, a request, a parse.
//
//   tp::arena frame;
//   for (;;) {
//     auto visible = frame.make_span<entity*>(count);
//     auto* plan = frame.make<planner>(visible);   its destructor runs at the reset
//     {
//       tp::arena::scope scratch(frame);           what is allocated in here ends at the brace
//       ...
//     }
//     frame.reset();                               everything ends; the memory is kept for the next frame
//   }
//
// An arena is used by one thread at a time.
#ifndef TIDEPOOL_ARENA_HPP
#define TIDEPOOL_ARENA_HPP

#include "detail/language.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "detail/support.hpp"
#include "tag.hpp"

namespace tp {

// Options of an arena.
struct arena_options {
  std::size_t block_size = 64 * 1024;  // bytes of each block it takes from the library; larger requests get their own
  std::size_t limit = SIZE_MAX;        // bytes of blocks the arena may hold
  tp::tag* tag = nullptr;              // charged for the blocks; must live longer
};

// Allocation moves a pointer; single objects are not given back. Blocks form a list: those up to the current one are in
// use, those behind it wait for reuse after a rewind or reset, so a loop that repeats itself takes no memory after its
// first round.
class arena {
  struct block;
  struct finalizer;

 public:
  // A place to rewind to. Plain data; valid until the arena is rewound to an earlier place.
  class mark {
    friend class arena;
    block* block_ = nullptr;
    std::uintptr_t position_ = 0;
    finalizer* finalizers_ = nullptr;
  };

  // Rewinds at the closing brace. Scopes end in the reverse order of their begin; anything else aborts with a message.
  class scope {
   public:
    explicit scope(arena& memory) noexcept : arena_(&memory), mark_(memory.get_mark()), depth_(++memory.depth_) {}
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() {
      if (TP_UNLIKELY(arena_->depth_ != depth_)) detail::fatal("arena scopes ended out of order", arena_, 0);
      arena_->rewind(mark_);
      --arena_->depth_;
    }

   private:
    arena* arena_;
    mark mark_;
    std::size_t depth_;
  };

  // Takes no memory until the first allocation. Throws nothing.
  explicit arena(const arena_options& options = {}) noexcept : options_(options) {}
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  // Runs the destructors that are due, the youngest object's first, and gives all blocks back.
  ~arena() {
    run_finalizers(nullptr);
    free_blocks(first_);
  }

  // size bytes aligned to alignment (a power of two, else null with errno EINVAL), contents undefined; valid until a rewind
  // or reset. Size 0 gives a valid address. Null with errno ENOMEM when memory, the limit or the tag's budget is used up.
  // Never throws.
  // Cost: some 8 instructions while the current block has room, else as tp::allocate of a block.
  [[nodiscard]] void* try_allocate(std::size_t size, std::size_t alignment = default_alignment) noexcept {
    std::uintptr_t start = detail::align_up(position_, alignment);
    if (TP_UNLIKELY(!detail::is_power_of_two(alignment) || start >= end_ || size > end_ - start)) {
      return allocate_in_next(size, alignment);
    }
    position_ = start + size;
    return reinterpret_cast<void*>(start);
  }

  // Allocates, or throws std::bad_alloc; without exceptions returns null.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment = default_alignment) {
    void* memory = try_allocate(size, alignment);
#if defined(__cpp_exceptions)
    if (TP_UNLIKELY(memory == nullptr)) detail::out_of_memory(size);
#endif
    return memory;
  }

  // A T whose destructor runs when the arena is rewound past it, reset or destroyed; for trivially destructible T nothing
  // is recorded. Throws what the constructor throws (its bytes stay in use until the next rewind) and std::bad_alloc;
  // without exceptions null. Cost: as allocate, and 32 bytes for each destructor.
  template <class T, class... Args>
  [[nodiscard]] T* make(Args&&... args) {
    if constexpr (std::is_trivially_destructible_v<T>) {
      return make_without_destructor<T>(std::forward<Args>(args)...);
    } else {
      void* record = allocate(sizeof(finalizer), alignof(finalizer));
      if (record == nullptr) return nullptr;
      T* object = make_without_destructor<T>(std::forward<Args>(args)...);
      if (object == nullptr) return nullptr;
      // Registered last: a constructor that throws has no destructor to run, and what it made itself ends after it.
      finalizers_ = ::new (record) finalizer{finalizers_, object, [](void* due) { static_cast<T*>(due)->~T(); }};
      return object;
    }
  }

  // Makes a T whose destructor need not run (or is called by hand): nothing is recorded.
  template <class T, class... Args>
  [[nodiscard]] T* make_without_destructor(Args&&... args) {
    void* memory = allocate(sizeof(T), alignof(T) < default_alignment ? default_alignment : alignof(T));
    if (memory == nullptr) return nullptr;
    return ::new (memory) T(std::forward<Args>(args)...);
  }

  // count elements with undefined contents, for T without constructor and destructor. Throws std::bad_alloc; without
  // exceptions an empty span.
  template <class T>
  [[nodiscard]] std::span<T> make_span(std::size_t count) {
    static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>);
    void* memory = allocate(detail::saturated_product(count, sizeof(T)), alignof(T));
    return {static_cast<T*>(memory), memory == nullptr ? 0 : count};
  }

  // Returns the place that the arena has reached. Cost: three loads.
  [[nodiscard]] mark get_mark() const noexcept {
    mark here;
    here.block_ = current_;
    here.position_ = position_;
    here.finalizers_ = finalizers_;
    return here;
  }

  // Ends everything allocated since the mark was taken: runs its destructors, the youngest object's first; keeps the
  // blocks. A mark that lies behind the current place (already rewound past) aborts with a message. Destructors may not
  // allocate from this arena.
  void rewind(const mark& place) noexcept {
    if (TP_UNLIKELY(!is_before_here(place))) detail::fatal("arena rewound to a mark that is no longer valid", this, 0);
    run_finalizers(place.finalizers_);
    current_ = place.block_;
    position_ = place.position_;
    end_ = current_ == nullptr ? 0 : current_->end;
  }

  // Ends everything: the frame reset. Keeps the blocks for the next frame. Not inside of a scope (aborts with a message).
  void reset() noexcept {
    if (TP_UNLIKELY(depth_ != 0)) detail::fatal("arena reset inside of a scope", this, used());
    rewind(mark());
  }

  // Gives the blocks back that are not in use. Returns their bytes.
  std::size_t trim() noexcept {
    std::size_t before = held_;
    free_blocks(current_ == nullptr ? std::exchange(first_, nullptr) : std::exchange(current_->next, nullptr));
    return before - held_;
  }

  // Bytes in use since the last reset, with what alignment and the ends of blocks cost.
  std::size_t used() const noexcept { return current_ == nullptr ? 0 : current_->before + (position_ - current_->begin()); }

  // Bytes of all blocks, in use or waiting.
  std::size_t held() const noexcept { return held_; }

 private:
  struct block {
    block* next;
    std::size_t size;    // bytes, with this header
    std::size_t before;  // bytes in use in the blocks before this one
    std::uintptr_t end;

    std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(this + 1); }
  };
  static_assert(sizeof(block) % default_alignment == 0 || sizeof(void*) < 8);

  struct finalizer {
    finalizer* next;
    void* object;
    void (*destroy)(void*);
  };

  // Goes on in the next block: one that waits when it is large enough, else a new one.
  [[gnu::noinline]] void* allocate_in_next(std::size_t size, std::size_t alignment) noexcept {
    if (!detail::is_power_of_two(alignment)) {
      errno = EINVAL;
      return nullptr;
    }
    std::size_t needed = size + sizeof(block) + (alignment > default_alignment ? alignment : 0);
    if (needed < size) {
      errno = ENOMEM;
      return nullptr;
    }
    block*& link = current_ == nullptr ? first_ : current_->next;
    // One that is too small is given back: kept, a frame that grows by a little each time would hold them all.
    while (link != nullptr && link->size < needed) {
      block* too_small = std::exchange(link, link->next);
      too_small->next = nullptr;
      free_blocks(too_small);
    }
    if (link == nullptr) link = rent_block(needed);
    if (link == nullptr) return nullptr;
    block* next = link;
    next->before = used();
    current_ = next;
    end_ = next->end;
    std::uintptr_t start = detail::align_up(next->begin(), alignment);
    position_ = start + size;
    return reinterpret_cast<void*>(start);
  }

  block* rent_block(std::size_t needed) noexcept {
    std::size_t size = tp_good_size(std::max(needed, options_.block_size));
    if (size == 0 || held_ > options_.limit || size > options_.limit - held_) {
      errno = ENOMEM;
      return nullptr;
    }
    void* memory = options_.tag != nullptr ? tp::allocate(*options_.tag, size) : detail::rent_bytes(size);
    if (memory == nullptr) return nullptr;
    held_ += size;
    return ::new (memory) block{nullptr, size, 0, reinterpret_cast<std::uintptr_t>(memory) + size};
  }

  void free_blocks(block* list) noexcept {
    while (list != nullptr) {
      block* next = list->next;
      std::size_t size = list->size;
      held_ -= size;
      if (options_.tag != nullptr) {
        tp::deallocate(*options_.tag, list, size);
      } else {
        detail::return_bytes(list, size);
      }
      list = next;
    }
  }

  // Each record is taken off before its destructor runs, so that none runs twice.
  void run_finalizers(finalizer* until) noexcept {
    while (finalizers_ != until) {
      finalizer* due = std::exchange(finalizers_, finalizers_->next);
      due->destroy(due->object);
    }
  }

  // Compares addresses of blocks only, so that a mark whose block is gone is not followed.
  bool is_before_here(const mark& place) const noexcept {
    if (place.block_ == current_) return place.position_ <= position_;
    if (place.block_ == nullptr) return true;
    if (current_ == nullptr) return false;
    for (const block* used = first_; used != current_; used = used->next) {
      if (used == place.block_) return true;
    }
    return false;
  }

  std::uintptr_t position_ = 0;  // the next free byte of the current block
  std::uintptr_t end_ = 0;
  block* current_ = nullptr;  // null before the first allocation and after a reset
  block* first_ = nullptr;
  finalizer* finalizers_ = nullptr;
  std::size_t held_ = 0;
  std::size_t depth_ = 0;  // open scopes
  arena_options options_;
};

}  // namespace tp
#endif
