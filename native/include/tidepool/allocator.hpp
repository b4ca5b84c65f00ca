// Allocators for the standard containers.
//
//   std::vector<int, tp::allocator<int>> numbers;
//   std::map<key, value, std::less<>, tp::allocator<std::pair<const key, value>>> index;
//
// Both throw std::bad_array_new_length when count * sizeof(T) overflows and std::bad_alloc when memory, a limit or a
// budget is used up. The containers assume that an allocator does not return null, so without exceptions they abort with
// a message.
#ifndef TIDEPOOL_ALLOCATOR_HPP
#define TIDEPOOL_ALLOCATOR_HPP

#include "detail/language.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "detail/support.hpp"
#include "tag.hpp"

namespace tp {

// Stateless: all are equal, of every T, and a block may be deallocated by any thread. Over-aligned T are aligned. Cost: one
// element (a node of a list or map) takes the path of tp::allocate<sizeof(T)>, arrays that of tp::allocate.
template <class T>
class allocator {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;

  constexpr allocator() noexcept = default;
  template <class U>
  constexpr allocator(const allocator<U>&) noexcept {}

  // Room for count elements, not constructed.
  [[nodiscard]] T* allocate(std::size_t count) {
    void* block;
    if (count == 1) {
      block = detail::rent_fixed<sizeof(T), alignof(T)>();
    } else {
      if (TP_UNLIKELY(count > max_count)) detail::length_overflow(count);
      block = detail::rent_bytes(count * sizeof(T), alignof(T));
    }
    if (TP_UNLIKELY(block == nullptr)) detail::out_of_memory(count * sizeof(T));
    return static_cast<T*>(block);
  }

  // Gives back what allocate(count) gave.
  void deallocate(T* block, std::size_t count) noexcept {
    if (count == 1) {
      detail::return_fixed<sizeof(T), alignof(T)>(block);
    } else {
      detail::return_bytes(block, count * sizeof(T), alignof(T));
    }
  }

  template <class U>
  friend constexpr bool operator==(const allocator&, const allocator<U>&) noexcept {
    return true;
  }

 private:
  static constexpr std::size_t max_count = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T);
};

// Charges a tag, which must live longer. Equal when the tag is the same; it goes with the elements when a container is
// moved or swapped, and a copied container charges the same tag. Thread-safe.
template <class T>
class tagged_allocator {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_copy_assignment = std::false_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  constexpr tagged_allocator(tag& account) noexcept : tag_(&account) {}
  template <class U>
  constexpr tagged_allocator(const tagged_allocator<U>& other) noexcept : tag_(&other.account()) {}

  // Room for count elements, not constructed, charged with count * sizeof(T) bytes.
  [[nodiscard]] T* allocate(std::size_t count) {
    if (TP_UNLIKELY(count > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T))) detail::length_overflow(count);
    void* block = tp::allocate(*tag_, count * sizeof(T), alignof(T));
    if (TP_UNLIKELY(block == nullptr)) detail::out_of_memory(count * sizeof(T));
    return static_cast<T*>(block);
  }

  // Gives back what allocate(count) gave.
  void deallocate(T* block, std::size_t count) noexcept {
    tp::deallocate(*tag_, block, count * sizeof(T), alignof(T));
  }

  // The tag that is charged.
  constexpr tag& account() const noexcept { return *tag_; }

  template <class U>
  friend constexpr bool operator==(const tagged_allocator& a, const tagged_allocator<U>& b) noexcept {
    return &a.account() == &b.account();
  }

 private:
  tag* tag_;
};

}  // namespace tp
#endif
