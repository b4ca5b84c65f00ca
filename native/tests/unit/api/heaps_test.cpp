// tp_heap: blocks with a common end.
#include <errno.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/memory.h"
#include "support/pattern.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

tp_heap_options options_of(const char* name = nullptr, size_t limit = 0, bool zero = false) {
  return {sizeof(tp_heap_options), name, limit, zero};
}

size_t live_of(tp_heap* heap) {
  size_t live = 0;
  tp_heap_usage(heap, &live, nullptr);
  return live;
}

TEST(Heap, GivesBlocksOfEverySizeAndCountsThem) {
  tp_heap* heap = tp_heap_create(nullptr);
  ASSERT_NE(nullptr, heap);
  std::vector<void*> blocks;
  size_t expected = 0;
  for (size_t size : {0, 1, 16, 100, 1024, 5000, 32768, 32769, 100000, 3 << 20}) {
    for (int i = 0; i < 5; ++i) {
      void* block = tp_heap_malloc(heap, size);
      ASSERT_NE(nullptr, block);
      EXPECT_GE(tp_usable_size(block), size);
      test::fill(block, size, i);
      expected += tp_usable_size(block);
      blocks.push_back(block);
    }
  }
  size_t live = 0, held = 0;
  tp_heap_usage(heap, &live, &held);
  EXPECT_EQ(expected, live);
  EXPECT_GE(held, live);
  tp_heap_usage(heap, nullptr, nullptr);
  for (size_t i = 0; i < blocks.size(); i += 2) tp_heap_free(heap, blocks[i]);
  for (size_t i = 1; i < blocks.size(); i += 2) tp_free(blocks[i]);
  EXPECT_EQ(0u, live_of(heap));
  tp_heap_free(heap, nullptr);
  tp_heap_destroy(heap);
  tp_heap_destroy(nullptr);
}

TEST(Heap, ZeroedAndAlignedBlocks) {
  tp_heap* heap = tp_heap_create(nullptr);
  for (size_t size : {1, 100, 3000, 40000, 200000}) {
    for (int round = 0; round < 2; ++round) {
      void* block = tp_heap_zalloc(heap, size);
      ASSERT_NE(nullptr, block);
      EXPECT_TRUE(test::is_zero(block, size));
      memset(block, 0xee, tp_usable_size(block));
      tp_heap_free(heap, block);
    }
    for (size_t alignment = 16; alignment <= (1 << 20); alignment *= 4) {
      void* block = tp_heap_aligned_alloc(heap, alignment, size);
      ASSERT_NE(nullptr, block);
      EXPECT_TRUE(test::is_aligned(block, alignment));
      test::fill(block, size, 1);
      tp_free(block);
    }
  }
  volatile size_t odd = 48, too_much = SIZE_MAX / 2;
  errno = 0;
  EXPECT_EQ(nullptr, tp_heap_aligned_alloc(heap, odd, 10));
  EXPECT_EQ(EINVAL, errno);
  for (int way = 0; way < 3; ++way) {
    errno = 0;
    void* block = way == 0   ? tp_heap_malloc(heap, too_much)
                  : way == 1 ? tp_heap_zalloc(heap, too_much)
                             : tp_heap_aligned_alloc(heap, 64, too_much);
    EXPECT_EQ(nullptr, block);
    EXPECT_EQ(ENOMEM, errno);
  }
  tp_heap_destroy(heap);
}

TEST(Heap, DestroyFreesEverythingAtOnce) {
  size_t before = test::statistics().live_bytes;
  size_t heaps_before = test::statistics().heaps;
  for (int round = 0; round < 20; ++round) {
    tp_heap* heap = tp_heap_create(nullptr);
    EXPECT_EQ(heaps_before + 1, test::statistics().heaps);
    for (int i = 0; i < 2000; ++i) ASSERT_NE(nullptr, tp_heap_malloc(heap, static_cast<size_t>(i) * 7 % 5000));
    for (int i = 0; i < 5; ++i) ASSERT_NE(nullptr, tp_heap_malloc(heap, 300000));
    tp_heap_destroy(heap);
    EXPECT_TRUE(tp_is_valid());
  }
  EXPECT_EQ(before, test::statistics().live_bytes);
  EXPECT_EQ(heaps_before, test::statistics().heaps);
}

TEST(Heap, AnyThreadAllocatesAndFrees) {
  tp_heap* heap = tp_heap_create(nullptr);
  std::vector<std::vector<void*>> blocks(4);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < blocks.size(); ++t) {
      threads.emplace_back([&, t, round] {
        // In the second round every thread frees what its neighbour made.
        if (round == 1) {
          for (void* block : blocks[(t + 1) % blocks.size()]) {
            EXPECT_TRUE(test::is_filled(block, 100, t + 1));
            tp_heap_free(heap, block);
          }
        } else {
          for (int i = 0; i < 3000; ++i) {
            blocks[t].push_back(tp_heap_malloc(heap, 100));
            test::fill(blocks[t].back(), 100, (t + 3) % 4 + 1);
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (round == 0) {
      EXPECT_GE(live_of(heap), 4u * 3000 * 100);
    }
  }
  EXPECT_EQ(0u, live_of(heap));
  tp_heap_destroy(heap);
}

TEST(Heap, LimitIsKeptAndNothingElseIsTouched) {
  tp_heap_options options = options_of("small", 1 << 20);
  tp_heap* heap = tp_heap_create(&options);
  ASSERT_NE(nullptr, heap);
  std::vector<void*> blocks;
  errno = 0;
  while (void* block = tp_heap_malloc(heap, 1000)) {
    test::fill(block, 1000, 1);
    blocks.push_back(block);
    ASSERT_LT(blocks.size(), 2000u);
  }
  EXPECT_EQ(ENOMEM, errno);
  size_t live = 0, held = 0;
  tp_heap_usage(heap, &live, &held);
  EXPECT_LE(held, 1u << 20);
  EXPECT_GE(live, (1u << 20) * 3 / 4) << "most of the limit can be used";
  EXPECT_EQ(nullptr, tp_heap_malloc(heap, 2 << 20));
  void* elsewhere = tp_malloc(2 << 20);
  EXPECT_NE(nullptr, elsewhere) << "the limit is the heap's alone";
  tp_free(elsewhere);
  for (void* block : blocks) {
    EXPECT_TRUE(test::is_filled(block, 1000, 1));
    tp_heap_free(heap, block);
  }
  void* large = tp_heap_malloc(heap, 900000);
  EXPECT_NE(nullptr, large) << "what was freed serves other sizes";
  tp_free(large);
  tp_heap_destroy(heap);
}

TEST(Heap, ReallocStaysWithinTheLimit) {
  tp_heap_options options = options_of("small", 1 << 20);
  tp_heap* heap = tp_heap_create(&options);
  void* block = tp_heap_malloc(heap, 200000);
  ASSERT_NE(nullptr, block);
  EXPECT_EQ(nullptr, tp_realloc(block, 4 << 20)) << "the new block would be of the same heap";
  tp_heap_free(heap, block);
  tp_heap_destroy(heap);
}

// What a block of a zeroing heap held cannot be read after it was freed.
TEST(Heap, ZeroOnFreeLeavesNothing) {
  tp_heap_options options = options_of("secret", 0, true);
  tp_heap* heap = tp_heap_create(&options);
  ASSERT_NE(nullptr, heap);
  void* kept = tp_heap_malloc(heap, 500);  // its page stays
  for (size_t size : {100, 500, 5000}) {
    auto* block = static_cast<unsigned char*>(tp_heap_malloc(heap, size));
    memset(block, 0xaa, size);
    auto* volatile stale = block;
    tp_heap_free(heap, block);
    EXPECT_TRUE(test::shows_nothing_of(stale, size, 0xaa)) << size;
  }
  tp_free(kept);
  tp_heap_destroy(heap);
}

TEST(Heap, ZeroOnFreeHoldsForFreesThroughTpFreeAndForLargeBlocks) {
  tp_heap_options options = options_of("secret", 0, true);
  tp_heap* heap = tp_heap_create(&options);
  void* kept = tp_heap_malloc(heap, 200);
  auto* block = static_cast<unsigned char*>(tp_heap_malloc(heap, 200));
  memset(block, 0xaa, 200);
  auto* volatile stale = block;
  tp_free(block);
  EXPECT_TRUE(test::shows_nothing_of(stale, 200, 0xaa));
  auto* large = static_cast<unsigned char*>(tp_heap_malloc(heap, 200000));
  memset(large, 0xaa, 200000);
  auto* volatile stale_large = large;
  tp_free(large);
  EXPECT_TRUE(test::shows_nothing_of(stale_large, 200000, 0xaa));
  tp_free(kept);
  tp_heap_destroy(heap);
}

TEST(Heap, DestroyOfAZeroingHeapZeroesLiveBlocks) {
  tp_heap_options options = options_of("secret", 0, true);
  tp_heap* heap = tp_heap_create(&options);
  std::vector<unsigned char*> blocks;
  for (size_t size : {100, 100, 3000, 100000}) {
    blocks.push_back(static_cast<unsigned char*>(tp_heap_malloc(heap, size)));
    memset(blocks.back(), 0xaa, size);
  }
  tp_heap_destroy(heap);
  for (unsigned char* volatile block : blocks) EXPECT_TRUE(test::shows_nothing_of(block, 100, 0xaa));
}

TEST(Heap, OptionsOfAnotherVersionAreRefused) {
  tp_heap_options options = options_of();
  for (size_t size : {size_t{0}, sizeof(options) - 1, sizeof(options) + 8}) {
    options.struct_size = size;
    errno = 0;
    EXPECT_EQ(nullptr, tp_heap_create(&options));
    EXPECT_EQ(EINVAL, errno);
  }
}

TEST(Heap, LongNamesAreCut) {
  std::string name(500, 'n');
  tp_heap_options options = options_of(name.c_str());
  tp_heap* heap = tp_heap_create(&options);
  ASSERT_NE(nullptr, heap);
  tp_free(tp_heap_malloc(heap, 10));
  tp_heap_destroy(heap);
}

int mismatches = 0;

TEST(Heap, ABlockOfAnotherHeapIsReportedAndStays) {
  tp_heap* one = tp_heap_create(nullptr);
  tp_heap* two = tp_heap_create(nullptr);
  void* block = tp_heap_malloc(one, 100);
  test::fill(block, 100, 1);
  mismatches = 0;
  tp_misuse_handler before = tp_set_misuse_handler([](tp_misuse kind, const void*, size_t, const char* message) {
    if (kind == tp_misuse_heap_mismatch && strstr(message, "heap mismatch") != nullptr) ++mismatches;
  });
  tp_heap_free(two, block);
  EXPECT_EQ(1, mismatches);
  void* plain = tp_malloc(100);
  tp_heap_free(one, plain);
  EXPECT_EQ(2, mismatches);
  tp_set_misuse_handler(before);
  EXPECT_TRUE(test::is_filled(block, 100, 1));
  tp_free(plain);
  tp_heap_free(one, block);
  tp_heap_destroy(one);
  tp_heap_destroy(two);
}

TEST(Heap, ThousandsComeAndGoInBoundedMemory) {
  for (int i = 0; i < 200; ++i) tp_heap_destroy(tp_heap_create(nullptr));
  size_t before = test::statistics().metadata_bytes;
  for (int i = 0; i < 5000; ++i) {
    tp_heap* heap = tp_heap_create(nullptr);
    void* block = tp_heap_malloc(heap, 64);
    *static_cast<int*>(block) = i;
    tp_heap_destroy(heap);
  }
  EXPECT_LE(test::statistics().metadata_bytes, before + (1 << 16));
}

}  // namespace
