// The size classes of the library, as constant tables. Not an interface: the numbers change between versions.
//
// Built in: steps of 16 bytes to 128, then eight classes for each doubling to 8 KiB, then four to 32 KiB, so that a
// class is at most 12.5 % (above 8 KiB: 25 %) larger than the one below. A table that tidepool-tune wrote from a recorded
// profile takes their place when TIDEPOOL_SIZE_CLASSES names its file; the library and the programs that use the inline
// headers must be built with the same table. A program that was not neither links nor starts: see fast_path.h.
//
// What every table must keep, verified at compile time: ascending; at most 64 classes; multiples of 16 up to 1 KiB and of
// 128 above; all powers of two from 16 B to 32 KiB, so that an aligned request always finds a class of its alignment.
#ifndef TIDEPOOL_DETAIL_SIZE_CLASSES_H
#define TIDEPOOL_DETAIL_SIZE_CLASSES_H

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(TIDEPOOL_SIZE_CLASSES)
#include TIDEPOOL_SIZE_CLASSES  // defines tp::detail::class_sizes
#elif __has_include("recorded_classes.h")
#include "recorded_classes.h"  // the same table, put here by the installation of a library that was built with it
#else
namespace tp::detail {
inline constexpr std::uint32_t class_sizes[] = {
    16,   32,   48,   64,   80,    96,    112,   128,    //
    144,  160,  176,  192,  208,   224,   240,   256,    //
    288,  320,  352,  384,  416,   448,   480,   512,    //
    576,  640,  704,  768,  832,   896,   960,   1024,   //
    1152, 1280, 1408, 1536, 1664,  1792,  1920,  2048,   //
    2304, 2560, 2816, 3072, 3328,  3584,  3840,  4096,   //
    4608, 5120, 5632, 6144, 6656,  7168,  7680,  8192,   //
    10240, 12288, 14336, 16384, 20480, 24576, 28672, 32768};
}
#endif

namespace tp::detail {

inline constexpr std::size_t class_count = sizeof(class_sizes) / sizeof(class_sizes[0]);
inline constexpr std::size_t max_class_size = 32768;
inline constexpr std::size_t small_limit = 1024;  // up to here the table counts in steps of 16 bytes, above of 128

// A bin is a list in a thread heap: 0 caches nothing, then one for each size class, then those of pools.
inline constexpr std::size_t pool_bins = 64;
inline constexpr std::size_t bin_count = 1 + 64 + pool_bins;
inline constexpr std::size_t first_pool_bin = 65;

constexpr bool classes_are_valid() {
  std::size_t powers = 0;
  std::uint32_t below = 0;
  for (std::uint32_t size : class_sizes) {
    if (size <= below || size > max_class_size) return false;
    if (size % (size <= small_limit ? 16 : 128) != 0) return false;
    if ((size & (size - 1)) == 0) ++powers;
    below = size;
  }
  return powers == 12 && class_count <= 64;
}
static_assert(classes_are_valid(), "the table of size classes breaks one of the rules above");

// index (n + 15) / 16 for n up to 1 KiB
constexpr auto make_small_bins() {
  std::array<std::uint8_t, small_limit / 16 + 1> bins{};
  std::size_t c = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    while (class_sizes[c] < i * 16) ++c;
    bins[i] = static_cast<std::uint8_t>(c + 1);
  }
  return bins;
}

// index (n + 127) / 128 for n from 1 KiB to 32 KiB
constexpr auto make_medium_bins() {
  std::array<std::uint8_t, max_class_size / 128 + 1> bins{};
  std::size_t c = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    while (class_sizes[c] < i * 128) ++c;
    bins[i] = static_cast<std::uint8_t>(c + 1);
  }
  return bins;
}

inline constexpr auto small_bins = make_small_bins();
inline constexpr auto medium_bins = make_medium_bins();

// The bin that serves size bytes, 1 .. class_count; size must be at most max_class_size.
constexpr std::size_t bin_of(std::size_t size) {
  return size <= small_limit ? small_bins[(size + 15) / 16] : medium_bins[(size + 127) / 128];
}

constexpr std::size_t size_of_bin(std::size_t bin) { return class_sizes[bin - 1]; }

}  // namespace tp::detail
#endif
