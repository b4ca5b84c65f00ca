// Pools of objects of one type: blocks of exactly sizeof(T), rounded to its alignment, from pages that hold nothing else.
//
//   tp::pool<particle> particles({.name = "particles", .limit = 8 << 20});
//   {
//     tp::lease<particle> spark = particles.rent(x, y);   constructed; goes back at the brace
//     spark->step();
//   }
//   particle* raw = particles.construct(x, y);            or by hand, from and to any thread
//   particles.destroy(raw);
#ifndef TIDEPOOL_POOL_HPP
#define TIDEPOOL_POOL_HPP

#include "detail/language.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "detail/support.hpp"

namespace tp {

// Options of a pool<T>; T gives size and alignment.
struct pool_options {
  const char* name = nullptr;  // in statistics and misuse messages; up to 31 bytes are copied
  std::size_t limit = 0;       // bytes of pages the pool may hold; 0: only the process's limit
  bool zero_on_free = false;   // every block is zeroed when it goes back: for secrets
};

// Bytes of a pool or heap: of blocks in use, and of the pages that hold them.
struct usage {
  std::size_t live_bytes = 0;
  std::size_t held_bytes = 0;
};

template <class T>
class pool;

// Owns one object of a pool<T>, which must live longer. Moving leaves the source empty, so an object is returned once.
// Used by one thread at a time; it may be moved to another thread and end there.
template <class T>
class [[nodiscard]] lease {
 public:
  // An empty lease.
  lease() noexcept = default;
  lease(lease&& other) noexcept : object_(std::exchange(other.object_, nullptr)), pool_(other.pool_) {}

  // Gives back what this lease held, then takes over. Moving to itself changes nothing.
  lease& operator=(lease&& other) noexcept {
    if (this != &other) {
      return_now();
      object_ = std::exchange(other.object_, nullptr);
      pool_ = other.pool_;
    }
    return *this;
  }

  lease(const lease&) = delete;
  lease& operator=(const lease&) = delete;
  ~lease() { return_now(); }

  // Destroys the object and gives its block back now; false, and nothing happens, when the lease is empty.
  bool return_now() noexcept {
    if (object_ == nullptr) return false;
    T* object = std::exchange(object_, nullptr);
    object->~T();
    detail::return_to(pool_, object);
    return true;
  }

  // The object without its owner: the caller ends it with pool<T>::destroy. The lease is empty afterwards.
  [[nodiscard]] T* detach() noexcept { return std::exchange(object_, nullptr); }

  // False for an empty lease, and after a try_rent that failed.
  explicit operator bool() const noexcept { return object_ != nullptr; }

  // The object; null for an empty lease, which may not be dereferenced.
  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }

 private:
  friend class pool<T>;
  lease(T* object, tp_pool* owner) noexcept : object_(object), pool_(owner) {}

  T* object_ = nullptr;
  tp_pool* pool_ = nullptr;
};

// A pool of T. All members but the constructors, the destructor and the moves may be called from any threads at once; an
// object may be destroyed by another thread than the one that constructed it.
template <class T>
class pool {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_array_v<T>);
  static_assert(sizeof(T) <= (std::size_t{1} << 20), "blocks of a pool are at most 1 MiB");
  static_assert(alignof(T) <= 65536, "blocks of a pool are aligned to at most 64 KiB");

 public:
  using value_type = T;

  // Throws std::bad_alloc when memory is used up; without exceptions aborts with a message. The first 64 pools of a
  // process that live at one time rent from thread caches, others take a lock.
  explicit pool(const pool_options& options = {}) : pool(std::nothrow, options) {
    if (handle_ == nullptr) detail::out_of_memory(sizeof(T));
  }

  // Makes a pool, or one for which operator bool is false and which may only be destroyed.
  explicit pool(std::nothrow_t, const pool_options& options = {}) noexcept {
    tp_pool_options native{};
    native.struct_size = sizeof(native);
    native.name = options.name;
    native.block_size = sizeof(T);
    native.alignment = alignof(T) < default_alignment ? default_alignment : alignof(T);
    native.limit = options.limit;
    native.zero_on_free = options.zero_on_free;
    handle_ = tp_pool_create(&native);
  }

  // Leases and objects stay valid and belong to the new pool. The source may only be destroyed or assigned to.
  pool(pool&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  pool& operator=(pool&& other) noexcept {
    if (this != &other) {
      if (handle_ != nullptr) tp_pool_destroy(handle_);
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  // Frees all memory of the pool at once. Objects that are still alive are not destroyed, their memory is gone: no lease
  // may outlive its pool. Cost: that of its pages, not of its objects.
  ~pool() {
    if (handle_ != nullptr) tp_pool_destroy(handle_);
  }

  // False for a pool that could not be made, or was moved from.
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // A new object with its owner. Throws what the constructor throws (the block goes back), and std::bad_alloc when memory
  // or the limit is used up; without exceptions the lease is empty then. Cost: some 10 instructions when this thread has
  // a free block, else a call that takes the thread's heap lock; no atomic operation.
  template <class... Args>
  lease<T> rent(Args&&... args) {
    return lease<T>(construct(std::forward<Args>(args)...), handle_);
  }

  // Rents, or returns an empty lease when memory or the limit is used up. Throws only what the constructor throws.
  template <class... Args>
  lease<T> try_rent(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
    return lease<T>(try_construct(std::forward<Args>(args)...), handle_);
  }

  // Rents without an owner: the caller ends the object with destroy. Without exceptions null when memory is used up.
  template <class... Args>
  [[nodiscard]] T* construct(Args&&... args) {
    T* object = try_construct(std::forward<Args>(args)...);
#if defined(__cpp_exceptions)
    if (TP_UNLIKELY(object == nullptr)) detail::out_of_memory(sizeof(T));
#endif
    return object;
  }

  // Tries to rent without an owner.
  template <class... Args>
  [[nodiscard]] T* try_construct(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
    void* block = detail::rent_from(handle_);
    if (TP_UNLIKELY(block == nullptr)) return nullptr;
    if constexpr (std::is_nothrow_constructible_v<T, Args...>) {
      return ::new (block) T(std::forward<Args>(args)...);
    } else {
      detail::unless_kept guard(block, [this](void* unused) { detail::return_to(handle_, unused); });
      T* object = ::new (block) T(std::forward<Args>(args)...);
      guard.keep();
      return object;
    }
  }

  // Destroys an object of this pool and gives its block back; null does nothing. Any thread may. Cost: the destructor and
  // some 8 instructions, or a call when this thread's cache is full.
  void destroy(T* object) noexcept {
    if (object == nullptr) return;
    object->~T();
    detail::return_to(handle_, object);
  }

  // Deleter for std::unique_ptr and std::shared_ptr over objects of this pool.
  class deleter {
   public:
    deleter() noexcept = default;
    explicit deleter(const pool& owner) noexcept : pool_(owner.handle_) {}
    void operator()(T* object) const noexcept {
      if (object == nullptr) return;  // a std::shared_ptr calls its deleter for null too
      object->~T();
      detail::return_to(pool_, object);
    }

   private:
    tp_pool* pool_ = nullptr;
  };
  using unique_ptr = std::unique_ptr<T, deleter>;

  // Constructs an object held by a std::unique_ptr of two words. Without exceptions empty when memory is used up.
  template <class... Args>
  [[nodiscard]] unique_ptr make_unique(Args&&... args) {
    return unique_ptr(construct(std::forward<Args>(args)...), deleter(*this));
  }

  // Bytes in use and held. Exact when no other thread uses the pool. Cost: takes locks.
  tp::usage get_usage() const noexcept {
    tp::usage result;
    tp_pool_usage(handle_, &result.live_bytes, &result.held_bytes);
    return result;
  }

  // Bytes of one block: sizeof(T) rounded up to its alignment, at least 16.
  std::size_t block_size() const noexcept { return tp_pool_block_size(handle_); }

  // The pool of tidepool.h, still owned by this object.
  tp_pool* native_handle() const noexcept { return handle_; }

 private:
  tp_pool* handle_ = nullptr;
};

}  // namespace tp
#endif
