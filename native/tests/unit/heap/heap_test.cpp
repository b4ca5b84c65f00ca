// Heaps: shapes of pages, adoption of what ended threads left, what comes back from other threads.
#include "heap/heap.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "heap/registry.h"
#include "heap/shapes.h"
#include "heap/thread_heap.h"
#include "support/pattern.h"
#include "support/statistics.h"

namespace {

using namespace tp;

TEST(Shapes, EveryPageHoldsItsBlocks) {
  for (size_t bin = 1; bin <= class_count; ++bin) {
    const Shape& shape = shapes.of[bin];
    EXPECT_EQ(size_of_bin(bin), shape.block_size);
    EXPECT_GE(shape.capacity, 4u) << bin;
    EXPECT_LE(size_t{shape.capacity} * shape.block_size, size_t{shape.slices} << slice_shift);
    EXPECT_GT(size_t{shape.capacity + 1} * shape.block_size, size_t{shape.slices} << slice_shift) << "no room is left unused";
    if (shape.block_size <= 8192) {  // huge pages may back it, and make the rest resident
      size_t whole = size_t{shape.slices} << slice_shift;
      EXPECT_LE(whole - shape.block_size * shape.capacity, whole / 32) << shape.block_size;
    }
  }
}

TEST(Heap, IsTheSameForAThreadUntilItEnds) {
  Heap* mine = current_heap();
  ASSERT_NE(nullptr, mine);
  EXPECT_EQ(mine, current_heap());
  EXPECT_TRUE(is_thread_heap(mine));
  std::thread([&] { EXPECT_NE(mine, current_heap()); }).join();
}

TEST(Heap, OfAnEndedThreadIsAdopted) {
  Heap* left = nullptr;
  std::thread([&] {
    tp_free(tp_malloc(100));
    left = current_heap();
  }).join();
  EXPECT_EQ(HeapState::orphan, left->state.load());
  // As many threads as there are orphans, all alive at once: one of them adopts it.
  std::atomic<size_t> started{0};
  std::atomic<bool> found{false};
  size_t wanted = test::statistics().orphans;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < wanted; ++i) {
    threads.emplace_back([&] {
      tp_free(tp_malloc(100));
      if (current_heap() == left) found.store(true);
      started.fetch_add(1);
      while (started.load() != wanted) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(found.load());
}

TEST(Heap, PagesOfEndedThreadsServeRunningOnes) {
  std::vector<void*> kept;
  std::thread([&] {
    std::vector<void*> blocks(4000);
    for (void*& block : blocks) block = tp_malloc(2000);
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (i % 20 == 0) kept.push_back(blocks[i]);  // no page is empty
      else tp_free(blocks[i]);
    }
  }).join();
  size_t committed = test::statistics().committed_bytes;
  std::vector<void*> blocks(3000);
  for (void*& block : blocks) block = tp_malloc(2000);
  EXPECT_LE(test::statistics().committed_bytes, committed + (1u << 20)) << "6 MB were free in pages of the ended thread";
  tp_free_batch(blocks.data(), blocks.size());
  tp_free_batch(kept.data(), kept.size());
}

TEST(Heap, BlocksFreedByOthersComeBackToTheirPages) {
  for (size_t size : {16, 64, 700, 5000, 20000}) {
    std::vector<void*> blocks((4u << 20) / size);
    size_t committed = 0;
    for (int round = 0; round < 12; ++round) {
      std::set<void*> distinct;
      for (void*& block : blocks) {
        block = tp_malloc(size);
        ASSERT_TRUE(distinct.insert(block).second) << "handed out twice";
      }
      std::thread([&] { tp_free_batch(blocks.data(), blocks.size()); }).join();
      if (round == 2) committed = test::statistics().committed_bytes;
    }
    EXPECT_LE(test::statistics().committed_bytes, committed + (2u << 20)) << size;
    EXPECT_TRUE(tp_is_valid());
  }
}

TEST(Heap, ADestroyedHeapIsUsedAgain) {
  Heap* first = create_heap(HeapState::explicit_);
  ASSERT_NE(nullptr, first);
  destroy_heap(first);
  EXPECT_EQ(HeapState::free, first->state.load());
  Heap* second = create_heap(HeapState::explicit_);
  EXPECT_EQ(first, second);
  EXPECT_EQ(0u, second->held_bytes);
  destroy_heap(second);
}

TEST(Heap, WithoutMagazinesIsSmall) {
  constexpr size_t count = 100;
  std::vector<tp_heap*> heaps(count);
  size_t before = test::statistics().metadata_bytes;
  for (tp_heap*& heap : heaps) heap = tp_heap_create(nullptr);
  size_t each = (test::statistics().metadata_bytes - before) / count;
  EXPECT_LT(each, 8u << 10);
  EXPECT_LT(each, sizeof(Heap) / 8);
  for (tp_heap* heap : heaps) tp_heap_destroy(heap);
}

}  // namespace
