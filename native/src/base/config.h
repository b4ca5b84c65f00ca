// Numbers and macros of the whole library.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "os/compiler.h"
#include "tidepool/detail/fast_path.h"
#include "tidepool/tidepool.h"

#if !defined(TIDEPOOL_CHECKED)
#define TIDEPOOL_CHECKED 0
#endif

#if !defined(TIDEPOOL_PRELOAD)
#define TIDEPOOL_PRELOAD 0
#endif

namespace tp {

using detail::bin_count;
using detail::bin_of;
using detail::class_count;
using detail::first_pool_bin;
using detail::max_class_size;
using detail::pool_bins;
using detail::size_of_bin;
using detail::slice_shift;
using detail::slice_size;

inline constexpr bool checked = TIDEPOOL_CHECKED != 0;
inline constexpr bool preload = TIDEPOOL_PRELOAD != 0;  // with malloc, new and their relatives, for LD_PRELOAD
inline constexpr size_t min_alignment = 16;
inline constexpr size_t max_alignment = size_t{1} << 30;
inline constexpr size_t max_size = static_cast<size_t>(PTRDIFF_MAX);

constexpr bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }
constexpr size_t round_up(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }
constexpr size_t slices_for(size_t bytes) { return (bytes + slice_size - 1) >> slice_shift; }
inline unsigned log2_floor(size_t n) { return 63u - static_cast<unsigned>(__builtin_clzll(n)); }

}  // namespace tp
