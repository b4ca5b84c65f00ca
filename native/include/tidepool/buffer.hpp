// Buffers with an owner: rent n elements, use them as a span, and they go back at the closing brace.
//
//   auto samples = tp::rent<float>(4096, 64);   4096 floats for aligned AVX-512 loads, contents undefined
//   samples[0] = 1.0f;
//   mix(samples.span());
//
// A lease is used by one thread at a time, as any value; it may be moved to another thread and end there.
#ifndef TIDEPOOL_BUFFER_HPP
#define TIDEPOOL_BUFFER_HPP

#include "detail/language.h"

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "detail/support.hpp"

namespace tp {

// Owns a buffer of exactly size() elements. Moving leaves the source empty, so a buffer is given back once. T has no
// destructor to run; buffers of other types are vectors with tp::allocator.
template <class T = std::byte>
class [[nodiscard]] buffer_lease {
  static_assert(std::is_trivially_destructible_v<T>, "elements are not destroyed: use std::vector<T, tp::allocator<T>>");
  static_assert(std::is_trivially_default_constructible_v<T>, "elements are not constructed: use std::vector<T, tp::allocator<T>>");

 public:
  using element_type = T;

  // An empty lease: no buffer, size 0.
  buffer_lease() noexcept = default;

  // Takes over a block of this library that holds size elements at alignment (bytes). Not a copy.
  buffer_lease(T* block, std::size_t size, std::size_t alignment) noexcept
      : data_(block), size_(size), alignment_(alignment) {}

  buffer_lease(buffer_lease&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), alignment_(other.alignment_) {}

  // Gives back what this lease held, then takes over. Moving to itself changes nothing.
  buffer_lease& operator=(buffer_lease&& other) noexcept {
    if (this != &other) {
      return_now();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      alignment_ = other.alignment_;
    }
    return *this;
  }

  buffer_lease(const buffer_lease&) = delete;
  buffer_lease& operator=(const buffer_lease&) = delete;
  ~buffer_lease() { return_now(); }

  // Gives the buffer back now; false, and nothing happens, when the lease is empty. Cost: as tp::deallocate.
  bool return_now() noexcept {
    if (data_ == nullptr) return false;
    detail::return_bytes(std::exchange(data_, nullptr), sizeof(T) * std::exchange(size_, 0), alignment_);
    return true;
  }

  // The buffer without its owner: the caller frees it with tp::deallocate or tp_free. The lease is empty afterwards.
  [[nodiscard]] T* detach() noexcept {
    size_ = 0;
    return std::exchange(data_, nullptr);
  }

  // False for an empty lease, and after a try_rent that failed.
  explicit operator bool() const noexcept { return data_ != nullptr; }

  // The elements: null and none for an empty lease.
  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }                       // elements
  std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  std::span<T> span() const noexcept { return {data_, size_}; }
  T& operator[](std::size_t index) const noexcept { return data_[index]; }  // not verified
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t alignment_ = default_alignment;
};

// A buffer of exactly count elements, contents undefined, aligned to alignment bytes (a power of two; alignof(T) when
// that is more). Count 0 gives a buffer of size 0 that is not empty. An empty lease with errno ENOMEM when memory or a
// limit is used up, EINVAL when the alignment is none. Cost: as tp::allocate.
template <class T = std::byte>
buffer_lease<T> try_rent(std::size_t count, std::size_t alignment = alignof(T)) noexcept {
  if (alignment < alignof(T)) alignment = alignof(T);
  void* block = detail::rent_bytes(detail::saturated_product(count, sizeof(T)), alignment);
  return {static_cast<T*>(block), block == nullptr ? 0 : count, alignment};
}

// Rents, or throws std::bad_alloc; without exceptions aborts with a message.
template <class T = std::byte>
buffer_lease<T> rent(std::size_t count, std::size_t alignment = alignof(T)) {
  buffer_lease<T> lease = try_rent<T>(count, alignment);
  if (!lease) detail::out_of_memory(detail::saturated_product(count, sizeof(T)));
  return lease;
}

// Tries to rent a buffer with every byte zero. Large buffers that the system just gave are not written.
template <class T = std::byte>
buffer_lease<T> try_rent_zeroed(std::size_t count, std::size_t alignment = alignof(T)) noexcept {
  if (alignment < alignof(T)) alignment = alignof(T);
  std::size_t bytes = detail::saturated_product(count, sizeof(T));
  bool by_default = alignment <= default_alignment && detail::is_power_of_two(alignment);
  void* block = by_default ? tp_zalloc(bytes) : tp_aligned_zalloc(alignment, bytes);
  return {static_cast<T*>(block), block == nullptr ? 0 : count, alignment};
}

// Rents a buffer with every byte zero.
template <class T = std::byte>
buffer_lease<T> rent_zeroed(std::size_t count, std::size_t alignment = alignof(T)) {
  buffer_lease<T> lease = try_rent_zeroed<T>(count, alignment);
  if (!lease) detail::out_of_memory(detail::saturated_product(count, sizeof(T)));
  return lease;
}

}  // namespace tp
#endif
