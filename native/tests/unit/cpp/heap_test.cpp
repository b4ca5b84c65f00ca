#include "tidepool/heap.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "support.h"

namespace {

using tests::is_aligned;

TEST(Heap, AllocatesAndCounts) {
  tp::heap heap({.name = "counts"});
  EXPECT_EQ(heap.get_usage().live_bytes, 0u);
  void* block = heap.allocate(1000);
  std::memset(block, 1, 1000);
  EXPECT_GE(heap.get_usage().live_bytes, 1000u);
  EXPECT_GE(heap.get_usage().held_bytes, heap.get_usage().live_bytes);
  heap.deallocate(block);
  heap.deallocate(nullptr);
  EXPECT_EQ(heap.get_usage().live_bytes, 0u);
}

TEST(Heap, AlignsItsBlocks) {
  tp::heap heap;
  for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
    void* block = heap.allocate(100, alignment);
    EXPECT_TRUE(is_aligned(block, alignment)) << alignment;
  }
}

TEST(Heap, KeepsItsLimit) {
  tp::heap heap({.limit = 1 << 20});
  std::vector<void*> blocks;
  while (void* block = heap.allocate(10000)) {
    blocks.push_back(block);
    ASSERT_LE(blocks.size(), 105u) << "the limit does not hold";
  }
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_GT(blocks.size(), 50u);
  EXPECT_LE(heap.get_usage().held_bytes, std::size_t{1} << 20);
}

TEST(Heap, FreesEverythingAtItsEnd) {
  tp_statistics before{}, after{};
  before.struct_size = after.struct_size = sizeof before;
  tp_get_statistics(&before);
  for (int i = 0; i < 50; ++i) {
    tp::heap heap;
    for (int n = 0; n < 1000; ++n) ASSERT_NE(heap.allocate(1000), nullptr);
  }
  tp_get_statistics(&after);
  EXPECT_EQ(after.heaps, before.heaps);
  EXPECT_LT(after.live_bytes, before.live_bytes + 1000000);
}

TEST(Heap, MovesWithItsBlocks) {
  tp::heap source;
  void* block = source.allocate(100);
  tp::heap target(std::move(source));
  EXPECT_FALSE(source);  // NOLINT: what a moved-from heap promises
  EXPECT_GE(target.get_usage().live_bytes, 100u);
  target.deallocate(block);
  tp::heap other;
  other = std::move(target);
  EXPECT_EQ(other.get_usage().live_bytes, 0u);
  EXPECT_NE(other.allocate(1), nullptr);
}

TEST(Heap, ServesManyThreads) {
  tp::heap heap;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&heap, &wrong, t] {
      tests::random random(static_cast<std::uint64_t>(t) + 1);
      std::vector<std::pair<unsigned char*, std::size_t>> blocks;
      for (int i = 0; i < 5000; ++i) {
        if (blocks.size() < 50 || random.below(2) == 0) {
          std::size_t size = 1 + random.below(3000);
          auto* block = static_cast<unsigned char*>(heap.allocate(size));
          std::memset(block, t + 1, size);
          blocks.emplace_back(block, size);
        } else {
          auto [block, size] = blocks[random.below(static_cast<std::uint32_t>(blocks.size()))];
          if (block[0] != t + 1 || block[size - 1] != t + 1) ++wrong;
          std::erase_if(blocks, [block](auto& entry) { return entry.first == block; });
          heap.deallocate(block);
        }
      }
      for (auto& [block, size] : blocks) {
        if (block[size / 2] != t + 1) ++wrong;
        heap.deallocate(block);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(heap.get_usage().live_bytes, 0u);
}

}  // namespace
