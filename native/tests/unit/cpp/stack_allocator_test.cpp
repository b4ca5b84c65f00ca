#include "tidepool/stack_allocator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "support.h"

namespace {

using tests::hidden;
using tests::is_aligned;

TEST(StackAllocator, GivesBackInReverseOrder) {
  tp::stack_allocator stack;
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(stack.top(), nullptr);
  void* a = stack.allocate(100);
  void* b = stack.allocate(200, 64);
  void* c = stack.allocate(0);
  EXPECT_TRUE(is_aligned(b, 64));
  EXPECT_EQ(stack.live(), 3u);
  EXPECT_EQ(stack.top(), c);
  stack.deallocate(c);
  EXPECT_EQ(stack.top(), b);
  stack.deallocate(nullptr);
  EXPECT_EQ(stack.allocate(10), c) << "the place is used again";
  stack.deallocate(c);
  stack.deallocate(b);
  stack.deallocate(a);
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(stack.allocate(100), a);
}

TEST(StackAllocator, OfFixedCapacityEndsThere) {
  tp::stack_allocator stack({.capacity = 1024});
  EXPECT_EQ(stack.capacity(), 1024u);
  EXPECT_EQ(stack.try_allocate(1009), nullptr) << "the header needs 16 bytes";
  EXPECT_THROW(static_cast<void>(stack.allocate(2000)), std::bad_alloc);
  void* all = stack.try_allocate(1008);
  ASSERT_NE(all, nullptr);
  std::memset(all, 1, 1008);
  errno = 0;
  EXPECT_EQ(stack.try_allocate(0), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  stack.deallocate(all);
  int count = 0;
  while (stack.try_allocate(16) != nullptr) ++count;
  EXPECT_EQ(count, 32);
  EXPECT_EQ(stack.try_allocate(hidden(SIZE_MAX - 8)), nullptr);
}

TEST(StackAllocator, OverTheCallersMemoryStaysInside) {
  std::array<std::byte, 1000> memory{};
  std::span<std::byte> unaligned(memory.data() + 3, 900);
  tp::stack_allocator stack(unaligned);
  std::byte* first = memory.data() + 3;
  std::vector<void*> blocks;
  while (auto* block = static_cast<std::byte*>(stack.try_allocate(40, 32))) {
    ASSERT_TRUE(is_aligned(block, 32));
    ASSERT_GE(block, first);
    ASSERT_LE(block + 40, first + 900);
    std::memset(block, 0xff, 40);
    blocks.push_back(block);
  }
  EXPECT_GE(blocks.size(), 8u);
  while (!blocks.empty()) {
    stack.deallocate(blocks.back());
    blocks.pop_back();
  }
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(memory[0], std::byte{0});
  EXPECT_EQ(memory[903], std::byte{0});
  std::span<std::byte> nothing;
  tp::stack_allocator none(nothing);
  EXPECT_EQ(none.try_allocate(1), nullptr);
}

TEST(StackAllocator, GrowsAndComesBack) {
  tp::stack_allocator stack({.capacity = 4096, .grows = true});
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t i = 0; i < 200; ++i) {
    std::size_t size = i % 50 == 0 ? 20000 : 100 + i;
    auto* block = static_cast<unsigned char*>(stack.allocate(size));
    std::memset(block, static_cast<int>(i), size);
    blocks.emplace_back(block, size);
  }
  for (std::size_t i = blocks.size(); i-- > 0;) {
    auto [block, size] = blocks[i];
    ASSERT_TRUE(std::all_of(block, block + size, [i](unsigned char byte) { return byte == i; }));
    stack.deallocate(block);
  }
  EXPECT_TRUE(stack.empty());
  void* large = stack.allocate(30000);
  EXPECT_EQ(stack.top(), large) << "the chunk that was kept is too small";
}

// Up and down across the border of two chunks: a chunk is kept, so the same addresses come again.
TEST(StackAllocator, KeepsOneChunkAtTheBorder) {
  tp::stack_allocator stack({.capacity = 4096, .grows = true});
  void* below = stack.allocate(4000);
  void* above = stack.allocate(1000);
  for (int i = 0; i < 100; ++i) {
    stack.deallocate(above);
    void* again = stack.allocate(1000);
    ASSERT_EQ(again, above);
  }
  stack.deallocate(above);
  stack.deallocate(below);
}

TEST(StackAllocatorDeathTest, MisuseIsNoticed) {
  tp::stack_allocator stack;
  auto* a = static_cast<char*>(stack.allocate(32));
  void* b = stack.allocate(32);
  EXPECT_DEATH(stack.deallocate(a), "out of order");
  EXPECT_DEATH(
      {
        stack.deallocate(b);
        stack.deallocate(b);
      },
      "out of order");
  int outside = 0;
  EXPECT_DEATH(stack.deallocate(&outside), "out of order");
  EXPECT_DEATH(
      {
        std::memset(a, 0x41, 33);  // one byte too far: into the header of b
        stack.deallocate(b);
      },
      "overwritten");
}

TEST(StackAllocator, RandomProgramsMatchTheModel) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    tests::random random(seed);
    tp::stack_allocator stack({.capacity = std::size_t{256} << random.below(6), .grows = random.below(3) != 0});
    struct piece {
      unsigned char* at;
      std::size_t size;
      unsigned char fill;
    };
    std::vector<piece> pieces;
    for (int step = 0; step < 3000; ++step) {
      if (random.below(5) < 3) {
        std::size_t size = random.below(random.below(30) == 0 ? 5000 : 100);
        std::size_t alignment = std::size_t{1} << random.below(8);
        auto* at = static_cast<unsigned char*>(stack.try_allocate(size, alignment));
        if (at == nullptr) continue;
        ASSERT_TRUE(is_aligned(at, alignment));
        auto fill = static_cast<unsigned char>(random.below(256));
        std::memset(at, fill, size);
        pieces.push_back({at, size, fill});
      } else if (!pieces.empty()) {
        piece last = pieces.back();
        pieces.pop_back();
        ASSERT_TRUE(std::all_of(last.at, last.at + last.size, [&](unsigned char byte) { return byte == last.fill; }));
        stack.deallocate(last.at);
      }
      ASSERT_EQ(stack.live(), pieces.size());
      ASSERT_EQ(stack.top(), pieces.empty() ? nullptr : pieces.back().at);
    }
  }
}

TEST(StackAllocator, RefusesAnAlignmentThatIsNoneAndGoesOn) {
  std::vector<std::byte> memory(5000);
  tp::stack_allocator over_memory(memory), fixed, growing({.grows = true});
  for (tp::stack_allocator* stack : {&over_memory, &fixed, &growing}) {
    void* block = stack->allocate(100);
    for (std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{24}, std::size_t{1} << 31, SIZE_MAX}) {
      errno = 0;
      EXPECT_EQ(stack->try_allocate(8, hidden(alignment)), nullptr) << alignment;
      EXPECT_EQ(errno, EINVAL) << alignment;
    }
    EXPECT_EQ(stack->top(), block);
    EXPECT_EQ(stack->live(), 1u);
    stack->deallocate(block);
  }
}

TEST(StackAllocator, OfACapacityBeyondMemoryIsEmpty) {
  for (bool grows : {false, true}) {
    for (std::size_t capacity : {SIZE_MAX, SIZE_MAX - 16, SIZE_MAX - 31, SIZE_MAX / 2, std::size_t{1} << 50}) {
      tp::stack_allocator stack({.capacity = hidden(capacity), .grows = grows});
      for (std::size_t size : {std::size_t{0}, std::size_t{100}, capacity / 2, capacity - 64, capacity}) {
        errno = 0;
        EXPECT_EQ(stack.try_allocate(hidden(size)), nullptr) << capacity << ", " << size;
        EXPECT_EQ(errno, ENOMEM);
      }
      EXPECT_TRUE(stack.empty());
    }
  }
}

}  // namespace
