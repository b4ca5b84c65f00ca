// Pools inside: what options are allowed, which pools have thread caches, which bins come free.
#include <errno.h>
#include <gtest/gtest.h>

#include <vector>

#include "pools/pool.h"

namespace {

using namespace tp;

tp_pool_options options_of(size_t block_size, size_t alignment = 0, bool zero = false) {
  return {sizeof(tp_pool_options), nullptr, block_size, alignment, 0, zero};
}

TEST(PoolOptions, InRange) {
  for (size_t alignment = 1; alignment <= 65536; alignment *= 2) {
    tp_pool_options options = options_of(1, alignment);
    EXPECT_EQ(0, verify_pool_options(&options)) << alignment;
  }
  tp_pool_options largest = options_of(1 << 20);
  EXPECT_EQ(0, verify_pool_options(&largest));
}

TEST(Pools, UpTo64HaveThreadCachesEachABinOfItsOwn) {
  std::vector<tp_pool*> pools;
  uint64_t seen = 0;
  size_t cached = 0;
  for (int i = 0; i < 70; ++i) {
    tp_pool_options options = options_of(64);
    pools.push_back(create_pool(options));
    ASSERT_NE(nullptr, pools.back());
    if (pools.back()->bin == 0) continue;
    ++cached;
    ASSERT_GE(pools.back()->bin, first_pool_bin);
    uint64_t bit = uint64_t{1} << (pools.back()->bin - first_pool_bin);
    EXPECT_EQ(0u, seen & bit) << "two pools share a bin";
    seen |= bit;
  }
  EXPECT_EQ(pool_bins, cached);
  EXPECT_EQ(70u, pool_count());
  for (tp_pool* pool : pools) destroy_pool(pool);
  EXPECT_EQ(0u, pool_count());
  tp_pool_options options = options_of(64);
  tp_pool* again = create_pool(options);
  EXPECT_NE(0u, again->bin) << "bins come free";
  destroy_pool(again);
}

TEST(Pools, SecretsAndLargeBlocksHaveNoThreadCaches) {
  for (tp_pool_options options : {options_of(64, 0, true), options_of(100000), options_of(1 << 20)}) {
    tp_pool* pool = create_pool(options);
    ASSERT_NE(nullptr, pool);
    EXPECT_EQ(0u, pool->bin);
    void* block = rent_from_pool(pool);
    ASSERT_NE(nullptr, block);
    size_t live = 0, held = 0;
    pool_usage(pool, &live, &held);
    EXPECT_EQ(pool->block_size, live);
    return_to_pool(pool, block);
    destroy_pool(pool);
  }
}

}  // namespace
