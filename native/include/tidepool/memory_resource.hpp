// std::pmr over this library.
//
//   std::pmr::vector<int> numbers(tp::shared_resource());
//   std::pmr::set_default_resource(tp::shared_resource());
//
// All resources throw std::bad_alloc when memory, a limit or a budget is used up. A memory resource cannot return null
// (the standard library assumes that it does not), so without exceptions they abort with a message.
//
// Without RTTI two resource objects are equal only when they are one object; the standard containers then copy where they
// could have moved, and stay correct. Share one object, as shared_resource() does.
#ifndef TIDEPOOL_MEMORY_RESOURCE_HPP
#define TIDEPOOL_MEMORY_RESOURCE_HPP

#include "detail/language.h"

#include <cstddef>
#include <memory_resource>

#include "arena.hpp"
#include "detail/support.hpp"
#include "heap.hpp"
#include "tag.hpp"

namespace tp {

// The process's blocks, through the inline fast path. Stateless: all are equal, and what one allocates another may
// deallocate, from any thread. Cost: some 10 instructions behind the virtual call up to 32 KiB; alignments above 16 cost a
// further call.
class resource final : public std::pmr::memory_resource {
 public:
  constexpr resource() noexcept = default;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* block = detail::rent_bytes(bytes, alignment);
    if (TP_UNLIKELY(block == nullptr)) detail::out_of_memory(bytes);
    return block;
  }

  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    detail::return_bytes(block, bytes, alignment);
  }

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
#if defined(__cpp_rtti)
    return this == &other || dynamic_cast<const resource*>(&other) != nullptr;
#else
    return this == &other;
#endif
  }
};

namespace detail {
// A resource that is there before any constructor and after any destructor of a global.
union immortal_resource {
  resource value;
  constexpr immortal_resource() noexcept : value() {}
  ~immortal_resource() {}
};
inline constinit immortal_resource the_resource;
}  // namespace detail

// One resource for the whole program; it never ends, so globals may use it in constructors and destructors. Thread-safe.
[[nodiscard]] inline std::pmr::memory_resource* shared_resource() noexcept { return &detail::the_resource.value; }

// The blocks of a heap, which must live longer. Equal when the heap is the same. Thread-safe; each call takes the heap's
// lock. Destroying the heap frees what was not deallocated.
class heap_resource final : public std::pmr::memory_resource {
 public:
  explicit heap_resource(heap& memory) noexcept : heap_(memory.native_handle()) {}
  explicit heap_resource(tp_heap* memory) noexcept : heap_(memory) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* block = alignment <= default_alignment ? tp_heap_malloc(heap_, bytes) : tp_heap_aligned_alloc(heap_, alignment, bytes);
    if (TP_UNLIKELY(block == nullptr)) detail::out_of_memory(bytes);
    return block;
  }

  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    tp_heap_free_aligned_sized(heap_, block, alignment, bytes);
  }

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
#if defined(__cpp_rtti)
    auto* same_kind = dynamic_cast<const heap_resource*>(&other);
    return same_kind != nullptr && same_kind->heap_ == heap_;
#else
    return this == &other;
#endif
  }

  tp_heap* heap_;
};

// Charges a tag for what an upstream resource gives: the library's blocks, or any other resource. Tag and upstream must
// live longer. Equal when both are the same. As thread-safe as upstream.
class tag_resource final : public std::pmr::memory_resource {
 public:
  explicit tag_resource(tag& account, std::pmr::memory_resource* upstream = shared_resource()) noexcept
      : tag_(&account), upstream_(upstream) {}

  // The tag that is charged, and the resource that the blocks come from.
  tag& account() const noexcept { return *tag_; }
  std::pmr::memory_resource* upstream() const noexcept { return upstream_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    std::size_t used;
    if (TP_UNLIKELY(!tag_->try_add(bytes, &used))) detail::out_of_memory(bytes);
    detail::unless_kept guard(tag_, [bytes](void* account) { static_cast<tag*>(account)->refund(bytes); });
    void* block = upstream_->allocate(bytes, alignment);
    guard.keep();
    tag_->raise_peak(used);
    return block;
  }

  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    upstream_->deallocate(block, bytes, alignment);
    tag_->refund(bytes);
  }

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
#if defined(__cpp_rtti)
    auto* same_kind = dynamic_cast<const tag_resource*>(&other);
    return same_kind != nullptr && same_kind->tag_ == tag_ && *same_kind->upstream_ == *upstream_;
#else
    return this == &other;
#endif
  }

  tag* tag_;
  std::pmr::memory_resource* upstream_;
};

// The bytes of an arena, which must live longer; deallocate does nothing. One thread at a time, as the arena. Equal when
// the arena is the same.
class arena_resource final : public std::pmr::memory_resource {
 public:
  explicit arena_resource(arena& memory) noexcept : arena_(&memory) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* block = arena_->try_allocate(bytes, alignment);
    if (TP_UNLIKELY(block == nullptr)) detail::out_of_memory(bytes);
    return block;
  }

  void do_deallocate(void*, std::size_t, std::size_t) override {}

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
#if defined(__cpp_rtti)
    auto* same_kind = dynamic_cast<const arena_resource*>(&other);
    return same_kind != nullptr && same_kind->arena_ == arena_;
#else
    return this == &other;
#endif
  }

  arena* arena_;
};

}  // namespace tp
#endif
