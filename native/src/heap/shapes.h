// Shapes: how the pages of each bin are cut, and how long a thread's magazines are.
#pragma once

#include "base/config.h"
#include "pages/page.h"

namespace tp {

struct Shapes {
  Shape of[bin_count];
};
extern constinit Shapes shapes;  // of size classes: constant; of pool bins: set while the pool lives

// For blocks of any size up to 1 MiB.
Shape shape_for(uint32_t block_size);

inline constexpr uint32_t pool_magazine = 64;  // pools come and go, the magazines stay: one size for all

// About 32 KiB of blocks, at least 32 and at most 128; of those above 8 KiB 16.
constexpr uint32_t magazine_size(uint32_t block_size) {
  uint32_t blocks = 32768 / block_size;
  uint32_t least = block_size <= 8192 ? 32 : 16;
  return blocks < least ? least : blocks > 128 ? 128 : blocks;
}

constexpr uint32_t magazine_of_bin(size_t bin) {
  if (bin == 0) return 0;
  if (bin >= first_pool_bin) return pool_magazine;
  return bin <= class_count ? magazine_size(static_cast<uint32_t>(size_of_bin(bin))) : 0;
}

}  // namespace tp
