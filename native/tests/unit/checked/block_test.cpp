// The contract of tidepool.h, as far as the checked library could break it.
#include "checked/block.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "checked/quarantine.h"
#include "misuses.h"
#include "os/os.h"
#include "pages/arena.h"
#include "pages/runs.h"
#include "support/pattern.h"
#include "support/process.h"

namespace {

using namespace tp;

bool is_aligned(const void* block, size_t alignment) { return reinterpret_cast<uintptr_t>(block) % alignment == 0; }

TEST(CheckedBlocks, HaveExactlyTheSizeThatWasAskedFor) {
  test::Misuses misuses;
  for (size_t size : {0, 1, 15, 16, 17, 100, 4096, 40000, 3000000}) {
    auto* block = static_cast<unsigned char*>(tp_malloc(size));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(tp_usable_size(block), size);
    EXPECT_TRUE(tp_owns(block));
    memset(block, 0xee, size);
    tp_free_sized(block, size);
  }
}

TEST(CheckedBlocks, AreZeroWhenAskedFor) {
  test::Misuses misuses;
  for (size_t size : {1, 64, 5000, 100000, 2000000}) {
    auto* block = static_cast<unsigned char*>(tp_calloc(size, 1));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(block[0], 0);
    EXPECT_EQ(memcmp(block, block + 1, size - 1), 0);
    memset(block, 1, size);
    tp_free(block);
    block = static_cast<unsigned char*>(tp_aligned_zalloc(256, size));
    EXPECT_EQ(block[0], 0);
    EXPECT_EQ(memcmp(block, block + 1, size - 1), 0);
    tp_free_aligned_sized(block, 256, size);
  }
}

TEST(CheckedBlocks, AreAligned) {
  test::Misuses misuses;
  for (size_t alignment = 1; alignment <= size_t{4} << 20; alignment *= 2) {
    for (size_t size : {0, 1, 100, 5000, 70000}) {
      void* block = tp_aligned_alloc(alignment, size);
      ASSERT_NE(block, nullptr) << alignment;
      EXPECT_TRUE(is_aligned(block, alignment)) << alignment;
      EXPECT_TRUE(is_aligned(block, 16));
      tp_free_aligned_sized(block, alignment, size);
    }
  }
  for (size_t alignment : {size_t{0}, size_t{3}, size_t{48}, size_t{2} << 30}) {
    errno = 0;
    EXPECT_EQ(tp_aligned_alloc(alignment, 10), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
}

TEST(CheckedBlocks, OfPowersOfTwoAreAlignedToTheirSizeUpToAPage) {
  for (size_t size = 16; size <= 32768; size *= 2) {
    void* block = tp_malloc(size);
    EXPECT_TRUE(is_aligned(block, size < 4096 ? size : 4096)) << size;
    tp_free(block);
  }
}

TEST(CheckedBlocks, ThatCannotBeAreRefused) {
  test::Misuses misuses;
  for (size_t size : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1, SIZE_MAX / 4}) {
    errno = 0;
    EXPECT_EQ(tp_malloc(size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  errno = 0;
  volatile size_t many = SIZE_MAX / 2;
  EXPECT_EQ(tp_calloc(many, 3), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(CheckedBlocks, KeepTheirContentsWhenResized) {
  test::Misuses misuses;
  auto* block = static_cast<unsigned char*>(tp_malloc(10));
  for (int i = 0; i < 10; ++i) block[i] = static_cast<unsigned char>(i);
  size_t sizes[] = {11, 5000, 1000000, 64, 10, 0, 10};
  size_t kept = 10;
  for (size_t size : sizes) {
    auto* moved = static_cast<unsigned char*>(tp_realloc(block, size));
    ASSERT_NE(moved, nullptr);
    EXPECT_NE(moved, block) << "a stale pointer would not be noticed";
    block = moved;
    kept = size < kept ? size : kept;
    for (size_t i = 0; i < kept; ++i) EXPECT_EQ(block[i], i);
    EXPECT_EQ(tp_usable_size(block), size);
  }
  errno = 0;
  volatile size_t largest = SIZE_MAX;
  EXPECT_EQ(tp_realloc(block, largest), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(tp_usable_size(block), 10u);
  tp_free(block);
}

TEST(CheckedBlocks, OfAHeapStayThereWhenResized) {
  test::Misuses misuses;
  tp_heap* heap = tp_heap_create(nullptr);
  void* block = tp_heap_malloc(heap, 100);
  block = tp_realloc(block, 200);
  size_t live = 0;
  tp_heap_usage(heap, &live, nullptr);
  EXPECT_EQ(live, 200u);
  tp_heap_free(heap, block);
  tp_heap_usage(heap, &live, nullptr);
  EXPECT_EQ(live, 0u);
  tp_heap_destroy(heap);
}

TEST(CheckedBlocks, AreFreedWhateverTheyCameFrom) {
  test::Misuses misuses;
  tp_pool_options options{};
  options.struct_size = sizeof(options);
  options.block_size = 100;
  options.alignment = 64;
  tp_pool* pool = tp_pool_create(&options);
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(tp_pool_block_size(pool), 128u);
  void* blocks[20];
  ASSERT_EQ(tp_pool_rent_batch(pool, 20, blocks), 20u);
  for (void* block : blocks) EXPECT_TRUE(is_aligned(block, 64));
  size_t live = 0, held = 0;
  tp_pool_usage(pool, &live, &held);
  EXPECT_EQ(live, 20u * 128);
  EXPECT_GE(held, live);
  tp_free(blocks[0]);
  tp_free_sized(blocks[1], 128);
  tp_pool_return_batch(pool, blocks + 2, 18);
  tp_pool_usage(pool, &live, nullptr);
  EXPECT_EQ(live, 0u);
  tp_pool_destroy(pool);
}

TEST(CheckedBlocks, GoWithTheirHeap) {
  test::Misuses misuses;
  size_t before = check::total_live_bytes();
  for (int round = 0; round < 20; ++round) {
    tp_heap* heap = tp_heap_create(nullptr);
    for (size_t i = 0; i < 200; ++i) {
      void* block = tp_heap_malloc(heap, i * 37);
      if (i % 3 == 0) tp_heap_free(heap, block);
    }
    tp_heap_destroy(heap);
  }
  EXPECT_EQ(check::total_live_bytes(), before);
}

TEST(CheckedBlocks, AreNeverHandedOutWithoutLock) {
  void* block = tp_malloc(10);
  EXPECT_EQ(tp_try_malloc(10), nullptr);
  EXPECT_FALSE(tp_try_free(block));
  tp_free(block);
}

TEST(CheckedBlocks, AreCountedExactly) {
  tp_statistics before{}, after{};
  before.struct_size = after.struct_size = sizeof(tp_statistics);
  tp_get_statistics(&before);
  void* block = tp_malloc(12345);
  void* freed = tp_malloc(1000);
  tp_free(freed);
  tp_heap* heap = tp_heap_create(nullptr);
  tp_get_statistics(&after);
  EXPECT_EQ(after.live_bytes, before.live_bytes + 12345);
  EXPECT_GE(after.committed_bytes, after.live_bytes + after.cached_bytes);
  EXPECT_EQ(after.heaps, before.heaps + 1);
  tp_heap_destroy(heap);
  tp_free(block);
}

TEST(CheckedBlocks, KeepErrnoWhenFreed) {
  void* blocks[3] = {tp_malloc(10), tp_malloc(100000), tp_malloc(size_t{8} << 20)};
  for (void* block : blocks) {
    errno = 99;
    tp_free(block);
    EXPECT_EQ(errno, 99);
  }
}

// Each call of the system fails once: the allocation fails or not, nothing else may happen.
TEST(CheckedBlocks, SurviveEveryFailureOfTheSystem) {
  test::Misuses misuses;
  for (size_t nth = 1;; ++nth) {
    int failures = 0;
    os::fail_after(nth);
    tp_heap* heap = tp_heap_create(nullptr);
    std::vector<void*> blocks;
    for (size_t size : {100, 40000, 3000000}) {
      for (int i = 0; i < 3; ++i) {
        void* block = tp_malloc(size);
        if (block == nullptr) ++failures;
        blocks.push_back(block);
        if (heap != nullptr && tp_heap_malloc(heap, size) == nullptr) ++failures;
      }
    }
    for (void* block : blocks) tp_free(block);
    tp_heap_destroy(heap);
    tp_purge(0);
    os::fail_after(0);
    EXPECT_TRUE(tp_is_valid());
    if (nth > 200 || (nth > 30 && failures == 0 && heap != nullptr)) break;
  }
}

// What waits in quarantine may not make an allocation fail.
TEST(CheckedBlocks, InQuarantineGiveWayToALimit) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_memory_limit, 24 << 20), 0);
    for (int i = 0; i < 1000; ++i) {
      void* block = tp_malloc(size_t{1} << 20);
      ASSERT_NE(block, nullptr) << i;
      tp_free(block);
    }
    EXPECT_EQ(tp_malloc(size_t{32} << 20), nullptr);
  });
}

TEST(CheckedBlocks, ComeBackAfterQuarantine) {
  void* block = tp_malloc(5000);
  tp_free(block);
  EXPECT_GE(check::quarantined_bytes(), 5000u);
  tp_purge(0);
  EXPECT_EQ(check::quarantined_bytes(), 0u);
  bool again = false;
  std::vector<void*> blocks;
  for (int i = 0; i < 100 && !again; ++i) {
    blocks.push_back(tp_malloc(5000));
    again = blocks.back() == block;
  }
  EXPECT_TRUE(again);
  for (void* each : blocks) tp_free(each);
}

TEST(Quarantine, IsBounded) {
  for (int i = 0; i < 70000; ++i) tp_free(tp_malloc(24));
  EXPECT_LE(check::quarantined_bytes(), check::quarantine_bytes);
  for (int i = 0; i < 20; ++i) tp_free(tp_malloc(size_t{3} << 20));
  EXPECT_LE(check::quarantined_bytes(), check::quarantine_bytes + (size_t{4} << 20));
}

// A block does not come back to the program while newer ones could be poisoned: the next allocations are other blocks.
TEST(Quarantine, KeepsABlockFromBeingUsedAgain) {
  tp_purge(0);
  void* block = tp_malloc(700);
  tp_free(block);
  for (int i = 0; i < 1000; ++i) {
    void* other = tp_malloc(700);
    EXPECT_NE(other, block);
    tp_free(other);
  }
}

// Misuse that is told as far as it can be: each free either came in time or is reported, and no memory is touched that has
// gone to someone else.
TEST(Blocks, OfAHeapThatIsDestroyedWhileOthersFreeThem) {
  size_t reported = 0, freed = 0;
  for (int round = 0; round < 40; ++round) {
    test::Misuses misuses;
    tp_heap* heap = tp_heap_create(nullptr);
    std::vector<void*> blocks;
    // To poison a large block takes longer than to destroy the heap.
    for (size_t i = 0; i < 20; ++i) blocks.push_back(tp_heap_malloc(heap, i % 4 < 2 ? 4 << 20 : 3000));
    std::atomic<int> started{0};
    std::atomic<bool> in_time{false};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        started.fetch_add(1);
        while (started.load() != 3) {
        }
        for (size_t i = t; i < blocks.size(); i += 2) {
          tp_free(blocks[i]);
          in_time = true;
        }
      });
    }
    while (started.load() != 2) {
    }
    started.store(3);
    for (int spins = round * 20000; spins > 0; --spins) asm volatile("");
    // Once a free comes in time also where one processor runs everything.
    while (round == 0 && !in_time) std::this_thread::yield();
    tp_heap_destroy(heap);
    // The heap's former memory is another's now, and no block of it: a late write would show.
    std::vector<PageId> others;
    for (int i = 0; i < 5; ++i) {
      others.push_back(take_run(128).id);
      memset(address_of(others.back()), 0, 128 * slice_size);
    }
    for (std::thread& thread : threads) thread.join();
    for (PageId other : others) {
      EXPECT_TRUE(test::is_zero(address_of(other), 128 * slice_size));
      give_run(other, 128, true, 0);
    }
    auto seen = misuses.take();
    for (const test::Misuse& misuse : seen) EXPECT_EQ(misuse.kind, tp_misuse_destroyed_heap) << misuse.message;
    reported += seen.size();
    freed += blocks.size() - seen.size();
    ASSERT_TRUE(tp_is_valid()) << "round " << round;
  }
  EXPECT_GT(freed, 0u);
}

}  // namespace
