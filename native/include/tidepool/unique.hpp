// Single objects with std::unique_ptr: tp::make_unique<T>(...) is std::make_unique over this library's blocks. The
// deleter has no state, so the pointer stays one word.
#ifndef TIDEPOOL_UNIQUE_HPP
#define TIDEPOOL_UNIQUE_HPP

#include "detail/language.h"

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "detail/support.hpp"

namespace tp {

// A T made with its constructor in a block of its size and alignment. Throws what the constructor throws (the block goes
// back) and std::bad_alloc; without exceptions: null when memory is used up. Cost: as tp::allocate<sizeof(T)>().
template <class T, class... Args>
[[nodiscard]] T* construct(Args&&... args) {
  void* block = detail::rent_fixed<sizeof(T), alignof(T)>();
  if (TP_UNLIKELY(block == nullptr)) {
#if defined(__cpp_exceptions)
    detail::out_of_memory(sizeof(T));
#else
    return nullptr;
#endif
  }
  if constexpr (std::is_nothrow_constructible_v<T, Args...>) {
    return ::new (block) T(std::forward<Args>(args)...);
  } else {
    detail::unless_kept guard(block, [](void* unused) { detail::return_fixed<sizeof(T), alignof(T)>(unused); });
    T* object = ::new (block) T(std::forward<Args>(args)...);
    guard.keep();
    return object;
  }
}

// Destroys an object of construct<T> and gives its block back; null does nothing. T must be the type that was constructed,
// not a base of it. Any thread may. Cost: the destructor, then as tp::deallocate<sizeof(T)>.
template <class T>
void destroy(T* object) noexcept {
  if (object == nullptr) return;
  object->~T();
  detail::return_fixed<sizeof(T), alignof(T)>(const_cast<std::remove_cv_t<T>*>(object));
}

// Deleter for std::unique_ptr and std::shared_ptr over objects of tp::construct<T>. A deleter<Derived> does not become a
// deleter<Base>: the block's size would be lost.
template <class T>
struct deleter {
  void operator()(T* object) const noexcept { tp::destroy(object); }
};

template <class T>
using unique_ptr = std::unique_ptr<T, deleter<T>>;

// Throws and costs as construct; without exceptions an empty pointer when memory is used up.
template <class T, class... Args>
[[nodiscard]] unique_ptr<T> make_unique(Args&&... args) {
  return unique_ptr<T>(construct<T>(std::forward<Args>(args)...));
}

}  // namespace tp
#endif
