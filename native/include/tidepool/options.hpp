// Options with their types and units. Each setter returns 0, or the error number of tp_set_option: EBUSY when the
// option cannot be changed after the first allocation, EINVAL when the value is out of range. Thread-safe.
#ifndef TIDEPOOL_OPTIONS_HPP
#define TIDEPOOL_OPTIONS_HPP

#include "detail/language.h"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "tidepool.h"

namespace tp {

// When pages of 2 MiB back the memory: fewer TLB misses for large working sets, memory goes back in larger pieces.
enum class huge_pages : std::int64_t {
  never = 0,
  when_large = 1,  // the default: once the program uses 64 MiB, for what is filled from end to end
  always = 2,
};

// Only before the first allocation.
inline int set_huge_pages(huge_pages when) noexcept {
  return tp_set_option(tp_option_huge_pages, static_cast<std::int64_t>(when));
}
[[nodiscard]] inline huge_pages get_huge_pages() noexcept {
  return static_cast<huge_pages>(tp_get_option(tp_option_huge_pages));
}

// Bytes of committed memory that the process may hold; 0: no limit. At any time. Allocations above it fail, nothing is
// freed to get below it.
inline int set_memory_limit(std::size_t bytes) noexcept {
  return tp_set_option(tp_option_memory_limit, static_cast<std::int64_t>(bytes));
}
[[nodiscard]] inline std::size_t get_memory_limit() noexcept {
  return static_cast<std::size_t>(tp_get_option(tp_option_memory_limit));
}

// Idle pages go back to the system after this long; negative: only by tp_purge. At any time.
inline int set_purge_delay(std::chrono::milliseconds delay) noexcept {
  return tp_set_option(tp_option_purge_delay_ms, delay.count() < 0 ? -1 : static_cast<std::int64_t>(delay.count()));
}
[[nodiscard]] inline std::chrono::milliseconds get_purge_delay() noexcept {
  return std::chrono::milliseconds(tp_get_option(tp_option_purge_delay_ms));
}

// Turns the thread that gives idle pages back while the program does nothing on or off. At any time.
inline int set_background_purge(bool on) noexcept { return tp_set_option(tp_option_background_purge, on ? 1 : 0); }
[[nodiscard]] inline bool get_background_purge() noexcept { return tp_get_option(tp_option_background_purge) != 0; }

// Zeroes every freed block, or does not. Only before the first allocation; frees are slow then.
inline int set_zero_on_free(bool on) noexcept { return tp_set_option(tp_option_zero_on_free, on ? 1 : 0); }
[[nodiscard]] inline bool get_zero_on_free() noexcept { return tp_get_option(tp_option_zero_on_free) != 0; }

// Gives pages back that were idle for at least this long; returns the bytes. As tp_purge.
inline std::size_t purge(std::chrono::milliseconds min_idle = std::chrono::milliseconds(0)) noexcept {
  std::int64_t count = min_idle.count();
  return tp_purge(count <= 0 ? 0 : count > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(count));
}

// The statistics of the process, as tp_get_statistics. Takes every heap's lock in turn.
[[nodiscard]] inline tp_statistics get_statistics() noexcept {
  tp_statistics result{};
  result.struct_size = sizeof(result);
  tp_get_statistics(&result);
  return result;
}

}  // namespace tp
#endif
