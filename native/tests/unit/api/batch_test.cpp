// Batches, and the entries that never take the slow path.
#include <errno.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "support/pattern.h"
#include "support/process.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

class Batches : public testing::TestWithParam<size_t> {};

TEST_P(Batches, FillAllPlacesWithBlocksOfTheirOwn) {
  size_t size = GetParam();
  for (size_t count : {0, 1, 2, 7, 100, 700}) {
    if (size * count > (64u << 20)) continue;
    std::vector<void*> blocks(count + 1, nullptr);
    ASSERT_EQ(count, tp_malloc_batch(size, count, blocks.data()));
    EXPECT_EQ(nullptr, blocks[count]) << "nothing behind the last place is written";
    std::set<void*> distinct(blocks.begin(), blocks.end() - 1);
    EXPECT_EQ(count, distinct.size());
    for (size_t i = 0; i < count; ++i) {
      EXPECT_GE(tp_usable_size(blocks[i]), size);
      test::fill(blocks[i], size, i);
    }
    for (size_t i = 0; i < count; ++i) EXPECT_TRUE(test::is_filled(blocks[i], size, i));
    tp_free_batch(blocks.data(), count + 1);  // with the null
  }
}

TEST_P(Batches, OfAlignedBlocksAreAligned) {
  size_t size = GetParam();
  for (size_t alignment : {16, 64, 4096, 131072}) {
    std::vector<void*> blocks(20);
    ASSERT_EQ(blocks.size(), tp_aligned_alloc_batch(alignment, size, blocks.size(), blocks.data()));
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_TRUE(test::is_aligned(blocks[i], alignment));
      EXPECT_GE(tp_usable_size(blocks[i]), size);
      test::fill(blocks[i], size, i);
    }
    for (size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(test::is_filled(blocks[i], size, i));
    tp_free_batch(blocks.data(), blocks.size());
  }
}

INSTANTIATE_TEST_SUITE_P(OfManySizes, Batches, testing::Values(0, 1, 16, 24, 100, 1024, 3000, 32768, 40000, 200000));

TEST(Batch, OfTooMuchReturnsNone) {
  void* blocks[3];
  volatile size_t too_much = SIZE_MAX / 2;
  errno = 0;
  EXPECT_EQ(0u, tp_malloc_batch(too_much, 3, blocks));
  EXPECT_EQ(ENOMEM, errno);
}

TEST(Try, AThreadThatNeverAllocatedGetsNothing) {
  std::thread([] {
    errno = 5;
    EXPECT_EQ(nullptr, tp_try_malloc(64));
    EXPECT_EQ(5, errno);
  }).join();
}

TEST(Try, TakesBlocksAtHandAndNothingElse) {
  IN_A_QUIET_PROCESS({
    std::thread([] {
      tp_free(tp_malloc(64));
      size_t calls = test::statistics().os_calls;
      std::vector<void*> blocks;
      errno = 5;
      while (void* block = tp_try_malloc(64)) {
        test::fill(block, 64, 1);
        blocks.push_back(block);
        ASSERT_LT(blocks.size(), 100000u);
      }
      EXPECT_GT(blocks.size(), 0u);
      EXPECT_EQ(5, errno);
      EXPECT_EQ(calls, test::statistics().os_calls);
      for (void* block : blocks) EXPECT_TRUE(test::is_filled(block, 64, 1));
      size_t refused = 0;
      for (void* block : blocks) {
        if (tp_try_free(block)) continue;
        ++refused;
        EXPECT_TRUE(tp_owns(block)) << "still live";
        tp_free(block);
      }
      EXPECT_LT(refused, blocks.size());
      EXPECT_EQ(5, errno);
    }).join();
  });
}

TEST(Try, RefusesWhatIsLargeOrNull) {
  tp_free(tp_malloc(16));
  EXPECT_EQ(nullptr, tp_try_malloc(32769));
  EXPECT_EQ(nullptr, tp_try_malloc(SIZE_MAX));
  EXPECT_FALSE(tp_try_free(nullptr));
  void* large = tp_malloc(100000);
  EXPECT_FALSE(tp_try_free(large));
  test::fill(large, 100000, 1);
  EXPECT_TRUE(test::is_filled(large, 100000, 1));
  tp_free(large);
  int local = 0;
  EXPECT_FALSE(tp_try_free(&local));
}

TEST(Try, FreesWithoutBoundAreRefusedNotLost) {
  std::vector<void*> blocks(20000);
  ASSERT_EQ(blocks.size(), tp_malloc_batch(48, blocks.size(), blocks.data()));
  size_t refused = 0;
  for (void* block : blocks) {
    if (!tp_try_free(block)) {
      ++refused;
      tp_free(block);
    }
  }
  EXPECT_GT(refused, 0u) << "some frees need the slow path";
}

}  // namespace
