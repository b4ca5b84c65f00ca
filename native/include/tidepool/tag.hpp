// Tags: how much each subsystem uses. A subsystem has a tag with a name and a budget in bytes; what allocates on its behalf charges
// the tag, and is refused when the budget is used up.
//
//   constinit tp::tag audio{"audio", 16 << 20};
//
//   void* block = tp::allocate(audio, n);                       null when 16 MiB are in use
//   std::vector<float, tp::tagged_allocator<float>> mix(audio);  throws std::bad_alloc  (allocator.hpp)
//   tp::tag_resource memory(audio);                              the same for std::pmr (memory_resource.hpp)
//   tp::arena frame({.tag = &audio});                            charges its blocks     (arena.hpp)
//
// Bytes are counted as they were asked for, without rounding to size classes.
#ifndef TIDEPOOL_TAG_HPP
#define TIDEPOOL_TAG_HPP

#include "detail/language.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "detail/support.hpp"

namespace tp {

class tag;
class tag_resource;  // memory_resource.hpp
[[nodiscard]] inline void* allocate(tag& account, std::size_t size, std::size_t alignment) noexcept;

// A name, a budget, and the bytes in use. It must live longer than what it is charged for; usually it is a constinit
// global, which needs no constructor call at start-up. Every member may be called from any threads at once.
//
// Cost of a charge or refund: one relaxed atomic operation on a line that all users of the tag share. Counts are exact; as
// the operations are relaxed, they order no other memory.
class alignas(64) tag {
 public:
  static constexpr std::size_t no_budget = SIZE_MAX;

  // name is not copied and must live as long as the tag. budget in bytes.
  constexpr explicit tag(const char* name, std::size_t budget = no_budget) noexcept : name_(name), budget_(budget) {}
  tag(const tag&) = delete;
  tag& operator=(const tag&) = delete;

  // Adds bytes to what is in use; false, with nothing added, when that would be more than the budget. Never refused while
  // it fits, however many threads ask.
  [[nodiscard]] bool try_charge(std::size_t bytes) noexcept {
    std::size_t used;
    if (!try_add(bytes, &used)) return false;
    raise_peak(used);
    return true;
  }

  // Takes back what try_charge added.
  void refund(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  const char* name() const noexcept { return name_; }
  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }        // bytes in use
  std::size_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }        // most bytes in use so far
  std::size_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }  // charges refused so far
  std::size_t budget() const noexcept { return budget_.load(std::memory_order_relaxed); }    // bytes

  // A new budget in bytes. Below what is in use nothing is freed, but every charge is refused until enough came back.
  void set_budget(std::size_t bytes) noexcept { budget_.store(bytes, std::memory_order_relaxed); }

 private:
  friend void* allocate(tag& account, std::size_t size, std::size_t alignment) noexcept;
  friend class tag_resource;

  // A charge that the peak does not show yet: the block may not be had. used: with these bytes.
  [[nodiscard]] bool try_add(std::size_t bytes, std::size_t* used) noexcept {
    std::size_t before = used_.load(std::memory_order_relaxed);
    do {
      std::size_t budget = budget_.load(std::memory_order_relaxed);
      if (TP_UNLIKELY(before > budget || bytes > budget - before)) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
    } while (!used_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    *used = before + bytes;
    return true;
  }

  void raise_peak(std::size_t used) noexcept {
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < used && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
    }
  }

  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::size_t> refused_{0};
  const char* name_;
  std::atomic<std::size_t> budget_;
};

// A block charged to the tag; null with errno ENOMEM when the budget, a limit or memory is used up (nothing is charged
// then). alignment: a power of two of at most 1 GiB (else null with EINVAL). Never throws. Cost: a charge, then as
// tp::allocate.
[[nodiscard]] inline void* allocate(tag& account, std::size_t size, std::size_t alignment = default_alignment) noexcept {
  std::size_t used;
  if (TP_UNLIKELY(!account.try_add(size, &used))) {
    errno = ENOMEM;
    return nullptr;
  }
  void* block = detail::rent_bytes(size, alignment);
  if (TP_LIKELY(block != nullptr)) {
    account.raise_peak(used);
  } else {
    account.refund(size);
  }
  return block;
}

// Gives back a block of allocate(account, size, alignment), with the same arguments; null does nothing.
inline void deallocate(tag& account, void* block, std::size_t size, std::size_t alignment = default_alignment) noexcept {
  if (block == nullptr) return;
  account.refund(size);
  detail::return_bytes(block, size, alignment);
}

}  // namespace tp
#endif
