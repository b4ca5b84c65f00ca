#include "tidepool/block.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "support.h"
#include "tidepool/buffer.hpp"
#include "tidepool/heap.hpp"
#include "tidepool/tag.hpp"

namespace {

using tests::hidden;
using tests::is_aligned;

TEST(Block, HoldsWhatWasAskedForAndIsAligned) {
  for (std::size_t size : {0u, 1u, 15u, 16u, 17u, 100u, 1024u, 1025u, 4096u, 32768u, 32769u, 65536u, 1000000u}) {
    void* block = tp::allocate(size);
    ASSERT_NE(block, nullptr) << size;
    EXPECT_TRUE(is_aligned(block, 16)) << size;
    EXPECT_GE(tp::usable_size(block), size);
    std::memset(block, 0x5a, size);
    tp::deallocate(block, size);
  }
}

TEST(Block, IsAlignedAsAskedForAtRunTime) {
  for (std::size_t alignment = 1; alignment <= 1 << 20; alignment *= 2) {
    for (std::size_t size : {1u, 100u, 5000u, 70000u}) {
      void* block = tp::allocate(size, alignment);
      ASSERT_NE(block, nullptr);
      EXPECT_TRUE(is_aligned(block, alignment)) << size << " aligned to " << alignment;
      std::memset(block, 1, size);
      tp::deallocate(block, size, alignment);
    }
  }
}

template <std::size_t Size, std::size_t Alignment>
void fixed_blocks_are_apart_and_aligned() {
  std::vector<unsigned char*> blocks;
  for (int i = 0; i < 40; ++i) {
    auto* block = static_cast<unsigned char*>(tp::allocate<Size, Alignment>());
    ASSERT_NE(block, nullptr);
    ASSERT_TRUE(is_aligned(block, Alignment)) << Size << " aligned to " << Alignment;
    std::memset(block, i, Size);
    blocks.push_back(block);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t at = 0; at < Size; at += 7) ASSERT_EQ(blocks[i][at], i);
    tp::deallocate<Size, Alignment>(blocks[i]);
  }
}

template <std::size_t Alignment, std::size_t... Sizes>
void fixed_blocks_of(std::index_sequence<Sizes...>) {
  (fixed_blocks_are_apart_and_aligned<Sizes, Alignment>(), ...);
}

using some_sizes = std::index_sequence<1, 16, 17, 48, 130, 144, 200, 1000, 1024, 1025, 1100, 4097, 8193, 20000, 32768, 40000>;

TEST(Block, OfFixedSizeIsAligned) {
  fixed_blocks_of<16>(some_sizes{});
  fixed_blocks_of<32>(some_sizes{});
  fixed_blocks_of<64>(some_sizes{});
  fixed_blocks_of<256>(some_sizes{});
  fixed_blocks_of<4096>(some_sizes{});
}

TEST(Block, TooLargeIsNullAndSaysSo) {
  errno = 0;
  EXPECT_EQ(tp::allocate(hidden(SIZE_MAX)), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_EQ(tp::allocate(hidden(SIZE_MAX - 100), 64), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_EQ(tp::allocate(100, 48), nullptr) << "48 is no power of two";
  EXPECT_EQ(errno, EINVAL);
}

TEST(Block, NullMayBeFreed) {
  tp::deallocate(nullptr);
  tp::deallocate(nullptr, 0);
  tp::deallocate(nullptr, 0, 64);
}

TEST(Block, OfTheInlinePathAndOfTheLibraryAreTheSame) {
  tp_free(tp::allocate(100));
  tp::deallocate(tp_malloc(100), 100);
  tp_free(tp::allocate<100>());
  void* block = tp_malloc(100);
  tp::deallocate<100>(block);
  tp_free(tp::allocate<100, 64>());
}

// Blocks of fixed sizes go through thread caches; freed by another thread, none may be handed out twice.
TEST(Block, FreedByAnotherThreadIsHandedOutOnce) {
  constexpr int count = 20000;
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> blocks(count);
    std::set<void*> distinct;
    for (void*& block : blocks) {
      block = tp::allocate<64>();
      std::memset(block, 0xee, 64);
      distinct.insert(block);
    }
    ASSERT_EQ(distinct.size(), std::size_t{count});
    std::thread([&blocks] {
      for (void* block : blocks) tp::deallocate<64>(block);
    }).join();
  }
}

TEST(Block, OfAnAlignmentThatIsNoneIsRefused) {
  tp::heap heap;
  tp::tag tag("aligned");
  for (std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{12}, std::size_t{24}, SIZE_MAX, std::size_t{1} << 31}) {
    alignment = hidden(alignment);
    errno = 0;
    EXPECT_EQ(tp::allocate(100, alignment), nullptr) << alignment;
    EXPECT_EQ(errno, EINVAL) << alignment;
    errno = 0;
    EXPECT_EQ(heap.allocate(100, alignment), nullptr) << alignment;
    EXPECT_EQ(errno, EINVAL) << alignment;
    errno = 0;
    EXPECT_EQ(tp::allocate(tag, 100, alignment), nullptr) << alignment;
    EXPECT_EQ(errno, EINVAL) << alignment;
    if (alignment != 0) {  // less than that of the elements: theirs
      errno = 0;
      EXPECT_FALSE(tp::try_rent(100, alignment)) << alignment;
      EXPECT_EQ(errno, EINVAL) << alignment;
      errno = 0;
      EXPECT_FALSE(tp::try_rent_zeroed(100, alignment)) << alignment;
      EXPECT_EQ(errno, EINVAL) << alignment;
    }
  }
  EXPECT_EQ(tag.used(), 0u);
  EXPECT_EQ(heap.get_usage().live_bytes, 0u);
}

}  // namespace
