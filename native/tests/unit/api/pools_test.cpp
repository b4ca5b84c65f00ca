// tp_pool: blocks of one size.
#include <errno.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "support/pattern.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

tp_pool* make_pool(size_t block_size, size_t alignment = 0, size_t limit = 0, bool zero = false) {
  tp_pool_options options{sizeof(options), "test", block_size, alignment, limit, zero};
  return tp_pool_create(&options);
}

size_t live_of(tp_pool* pool) {
  size_t live = 0;
  tp_pool_usage(pool, &live, nullptr);
  return live;
}

struct Case {
  size_t block_size, alignment;
};

class Pools : public testing::TestWithParam<Case> {};

TEST_P(Pools, RentBlocksThatKeepApartAndAreAligned) {
  auto [block_size, alignment] = GetParam();
  tp_pool* pool = make_pool(block_size, alignment);
  ASSERT_NE(nullptr, pool);
  size_t wanted = alignment > 16 ? alignment : 16;
  size_t size = tp_pool_block_size(pool);
  EXPECT_EQ((block_size + wanted - 1) / wanted * wanted, size) << "rounded to the alignment, to no size class";
  size_t count = block_size > 100000 ? 20 : 3000;
  std::vector<void*> blocks(count);
  std::set<void*> distinct;
  for (void*& block : blocks) {
    block = tp_pool_rent(pool);
    ASSERT_NE(nullptr, block);
    ASSERT_TRUE(distinct.insert(block).second);
    ASSERT_TRUE(test::is_aligned(block, wanted));
    test::fill(block, size, 3);
  }
  size_t live = 0, held = 0;
  tp_pool_usage(pool, &live, &held);
  EXPECT_EQ(count * size, live);
  EXPECT_GE(held, live);
  for (void* block : blocks) {
    ASSERT_TRUE(test::is_filled(block, size, 3));
    tp_pool_return(pool, block);
  }
  EXPECT_EQ(0u, live_of(pool));
  tp_pool_return(pool, nullptr);
  ASSERT_EQ(count, tp_pool_rent_batch(pool, count, blocks.data()));
  for (void* block : blocks) test::fill(block, size, 4);
  for (void* block : blocks) ASSERT_TRUE(test::is_filled(block, size, 4));
  tp_pool_return_batch(pool, blocks.data(), count / 2);
  for (size_t i = count / 2; i < count; ++i) tp_free(blocks[i]);  // any block may go through tp_free
  EXPECT_EQ(0u, live_of(pool));
  tp_pool_destroy(pool);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Pools,
                         testing::Values(Case{1, 0}, Case{8, 8}, Case{16, 0}, Case{24, 0}, Case{24, 8}, Case{33, 0}, Case{100, 64},
                                         Case{1000, 0}, Case{1000, 4096}, Case{2049, 0}, Case{5000, 16}, Case{8193, 0}, Case{24000, 0},
                                         Case{32768, 0}, Case{32769, 0}, Case{50000, 65536}, Case{100000, 0}, Case{1 << 20, 0}));

TEST(Pool, DestroyFreesEverything) {
  size_t live = test::statistics().live_bytes, pools = test::statistics().pools;
  for (int round = 0; round < 100; ++round) {
    tp_pool* pool = make_pool(48);
    EXPECT_EQ(pools + 1, test::statistics().pools);
    for (int i = 0; i < 500; ++i) *static_cast<int*>(tp_pool_rent(pool)) = i;
    tp_pool_destroy(pool);
  }
  tp_pool_destroy(nullptr);
  EXPECT_EQ(live, test::statistics().live_bytes);
  EXPECT_EQ(pools, test::statistics().pools);
}

// A bin that a destroyed pool had is used again: blocks that lay in other threads' lists must be gone.
TEST(Pool, ANewPoolNeverGetsBlocksOfADestroyedOne) {
  for (int round = 0; round < 20; ++round) {
    tp_pool* small = make_pool(32);
    std::thread other([&] {
      std::vector<void*> blocks(100);
      ASSERT_EQ(100u, tp_pool_rent_batch(small, 100, blocks.data()));
      tp_pool_return_batch(small, blocks.data(), 100);
    });
    other.join();
    tp_pool_return(small, tp_pool_rent(small));
    tp_pool_destroy(small);
    tp_pool* large = make_pool(4000);
    std::vector<void*> blocks(50);
    for (void*& block : blocks) {
      block = tp_pool_rent(large);
      test::fill(block, 4000, 5);
    }
    for (void* block : blocks) {
      ASSERT_TRUE(test::is_filled(block, 4000, 5));
      tp_pool_return(large, block);
    }
    tp_pool_destroy(large);
  }
}

TEST(Pool, ListsOfARunningThreadForgetADestroyedPool) {
  std::vector<void*> mine(60);
  for (int round = 0; round < 10; ++round) {
    tp_pool* pool = make_pool(16);
    ASSERT_EQ(mine.size(), tp_pool_rent_batch(pool, mine.size(), mine.data()));
    tp_pool_return_batch(pool, mine.data(), mine.size());  // they lie in this thread's list
    std::thread([&] { tp_pool_destroy(pool); }).join();
    tp_pool* next = make_pool(1024);
    std::set<void*> distinct;
    for (void*& block : mine) {
      block = tp_pool_rent(next);
      ASSERT_TRUE(distinct.insert(block).second);
      test::fill(block, 1024, 6);
    }
    for (void* block : mine) ASSERT_TRUE(test::is_filled(block, 1024, 6));
    tp_pool_destroy(next);
  }
}

TEST(Pool, MoreThanHaveThreadCachesWorkAsWell) {
  std::vector<tp_pool*> pools(150);
  std::vector<void*> blocks(pools.size());
  for (size_t i = 0; i < pools.size(); ++i) {
    pools[i] = make_pool(16 * (i % 40 + 1));
    ASSERT_NE(nullptr, pools[i]);
    blocks[i] = tp_pool_rent(pools[i]);
    test::fill(blocks[i], tp_pool_block_size(pools[i]), i);
  }
  for (size_t i = 0; i < pools.size(); ++i) {
    EXPECT_TRUE(test::is_filled(blocks[i], tp_pool_block_size(pools[i]), i));
    if (i % 2 == 0) tp_pool_return(pools[i], blocks[i]);
    tp_pool_destroy(pools[i]);
  }
}

TEST(Pool, BlocksMayBeReturnedByAnyThread) {
  tp_pool* pool = make_pool(64);
  std::vector<void*> blocks(5000);
  ASSERT_EQ(blocks.size(), tp_pool_rent_batch(pool, blocks.size(), blocks.data()));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = t; i < blocks.size(); i += 4) tp_pool_return(pool, blocks[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0u, live_of(pool));
  tp_pool_destroy(pool);
}

TEST(Pool, LimitIsKept) {
  for (size_t block_size : {100, 50000}) {
    tp_pool* pool = make_pool(block_size, 0, 1 << 20);
    ASSERT_NE(nullptr, pool);
    std::vector<void*> blocks;
    errno = 0;
    while (void* block = tp_pool_rent(pool)) {
      blocks.push_back(block);
      ASSERT_LT(blocks.size(), 20000u);
    }
    EXPECT_EQ(ENOMEM, errno);
    size_t live = 0, held = 0;
    tp_pool_usage(pool, &live, &held);
    EXPECT_LE(held, 1u << 20);
    EXPECT_GE(live, (1u << 20) * 3 / 5);
    tp_pool_return_batch(pool, blocks.data(), blocks.size());
    void* again = tp_pool_rent(pool);
    EXPECT_NE(nullptr, again);
    tp_pool_return(pool, again);
    tp_pool_destroy(pool);
  }
}

TEST(Pool, ZeroOnFreeLeavesNothing) {
  tp_pool* pool = make_pool(256, 0, 0, true);
  void* kept = tp_pool_rent(pool);
  auto* block = static_cast<unsigned char*>(tp_pool_rent(pool));
  memset(block, 0xaa, 256);
  auto* volatile stale = block;
  tp_pool_return(pool, block);
  EXPECT_TRUE(test::shows_nothing_of(stale, 256, 0xaa));
  tp_pool_return(pool, kept);
  tp_pool_destroy(pool);
}

TEST(Pool, OptionsOutOfRangeAreRefused) {
  tp_pool_options good{sizeof(good), nullptr, 64, 0, 0, false};
  tp_pool_options bad = good;
  auto refused = [](const tp_pool_options* options) {
    errno = 0;
    return tp_pool_create(options) == nullptr && errno == EINVAL;
  };
  EXPECT_TRUE(refused(nullptr));
  for (size_t size : {size_t{0}, sizeof(good) - 1, sizeof(good) + 8}) {
    bad = good;
    bad.struct_size = size;
    EXPECT_TRUE(refused(&bad)) << "struct_size " << size;
  }
  for (size_t size : {size_t{0}, (size_t{1} << 20) + 1, SIZE_MAX}) {
    bad = good;
    bad.block_size = size;
    EXPECT_TRUE(refused(&bad)) << "block_size " << size;
  }
  for (size_t alignment : {size_t{3}, size_t{24}, size_t{131072}, SIZE_MAX}) {
    bad = good;
    bad.alignment = alignment;
    EXPECT_TRUE(refused(&bad)) << "alignment " << alignment;
  }
}

TEST(Pool, HugeBatchStopsAtTheLimit) {
  tp_pool* pool = make_pool(4096, 0, 1 << 20);
  std::vector<void*> blocks(1000, nullptr);
  size_t count = tp_pool_rent_batch(pool, blocks.size(), blocks.data());
  EXPECT_GT(count, 100u);
  EXPECT_LE(count, 256u);
  tp_pool_return_batch(pool, blocks.data(), count);
  EXPECT_EQ(0u, live_of(pool));
  tp_pool_destroy(pool);
}

}  // namespace
