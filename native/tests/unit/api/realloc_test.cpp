// tp_realloc and tp_reallocarray: every way from one kind of block to another keeps the contents.
#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "os/os.h"
#include "support/pattern.h"
#include "support/process.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

const size_t steps[] = {0, 1, 16, 17, 100, 128, 129, 1024, 1025, 4096, 8192, 8193, 32768, 32769, 65536, 65537, 200000,
                        1 << 20, (1 << 20) + 5, 3 << 20, 9 << 20, 33 << 20};

class From : public testing::TestWithParam<size_t> {};

// The eight bytes at a place, derived from it and the key. A loop over single bytes would take most of the time under sanitizers.
uint64_t word_at(size_t i, unsigned key) { return (i + 1) * 0x9e3779b97f4a7c15u + key; }

void fill_all(unsigned char* block, size_t size, unsigned key) {
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = word_at(i, key);
    memcpy(block + i, &word, size - i < 8 ? size - i : 8);
  }
}

::testing::AssertionResult has_all(const unsigned char* block, size_t size, unsigned key) {
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = word_at(i, key);
    if (memcmp(block + i, &word, size - i < 8 ? size - i : 8) != 0) return ::testing::AssertionFailure() << "byte " << i << " of " << size;
  }
  return ::testing::AssertionSuccess();
}

TEST_P(From, ToEverySizeKeepsTheContents) {
  size_t from = GetParam();
  for (size_t to : steps) {
    auto* block = static_cast<unsigned char*>(tp_malloc(from));
    ASSERT_NE(nullptr, block);
    fill_all(block, from, 7);
    block = static_cast<unsigned char*>(tp_realloc(block, to));
    ASSERT_NE(nullptr, block) << to;
    EXPECT_TRUE(has_all(block, from < to ? from : to, 7)) << from << " -> " << to;
    EXPECT_GE(tp_usable_size(block), to);
    memset(block, 1, tp_usable_size(block));
    tp_free(block);
  }
}

TEST_P(From, OfAnAlignedBlockKeepsTheContents) {
  size_t from = GetParam();
  for (size_t alignment : {64, 4096, 1 << 20}) {
    for (size_t to : {from / 2 + 1, from * 2 + 1}) {
      auto* block = static_cast<unsigned char*>(tp_aligned_alloc(alignment, from));
      ASSERT_NE(nullptr, block);
      fill_all(block, from, 3);
      block = static_cast<unsigned char*>(tp_realloc(block, to));
      ASSERT_NE(nullptr, block);
      EXPECT_TRUE(has_all(block, from < to ? from : to, 3)) << from << " -> " << to;
      tp_free(block);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EverySize, From, testing::ValuesIn(steps));

TEST(Realloc, OfNullAllocates) {
  void* block = tp_realloc(nullptr, 50);
  ASSERT_NE(nullptr, block);
  EXPECT_GE(tp_usable_size(block), 50u);
  tp_free(block);
  block = tp_reallocarray(nullptr, 10, 10);
  ASSERT_NE(nullptr, block);
  EXPECT_GE(tp_usable_size(block), 100u);
  tp_free(block);
}

TEST(Realloc, WithinTheClassStaysInPlace) {
  void* block = tp_malloc(100);
  void* same = tp_realloc(block, tp_usable_size(block));
  EXPECT_EQ(block, same);
  tp_free(same);
  block = tp_malloc(1000000);
  same = tp_realloc(block, tp_usable_size(block));
  EXPECT_EQ(block, same);
  tp_free(same);
}

TEST(Realloc, ToSizeZeroGivesABlockOfItsOwn) {
  void* block = tp_realloc(tp_malloc(100), 0);
  ASSERT_NE(nullptr, block);
  void* other = tp_malloc(0);
  EXPECT_NE(block, other);
  tp_free(block);
  tp_free(other);
}

TEST(Realloc, ThatFailsLeavesTheBlock) {
  for (size_t size : {100, 5000, 40000, 2000000}) {
    void* block = tp_malloc(size);
    test::fill(block, size, 9);
    volatile size_t too_much = SIZE_MAX / 2;
    errno = 0;
    EXPECT_EQ(nullptr, tp_realloc(block, too_much));
    EXPECT_EQ(ENOMEM, errno);
    EXPECT_TRUE(test::is_filled(block, size, 9));
    tp_free(block);
  }
}

// The number of 64 KiB slices of these sizes is that of the block when it is cut to 32 bits.
TEST(Realloc, ToSizesWhoseLowBitsFitFails) {
  tp_heap* heap = tp_heap_create(nullptr);
  for (size_t size : {size_t{65536}, size_t{1} << 20, size_t{40} << 20}) {
    for (void* block : {tp_malloc(size), tp_heap_malloc(heap, size)}) {
      ASSERT_NE(nullptr, block);
      test::fill(block, size, 2);
      for (unsigned bit = 48; bit < 63; ++bit) {
        for (size_t low : {size_t{0}, size / 2, size, size * 2}) {
          volatile size_t too_much = (size_t{1} << bit) + low;
          errno = 0;
          ASSERT_EQ(nullptr, tp_realloc(block, too_much)) << "2^" << bit << " + " << low;
          EXPECT_EQ(ENOMEM, errno);
        }
      }
      EXPECT_TRUE(test::is_filled(block, size, 2));
      EXPECT_EQ(size, tp_usable_size(block));
      tp_free(block);
    }
  }
  tp_heap_destroy(heap);
}

// The part that is cut off goes back at once, long before the block is freed.
TEST(Realloc, ThatShrinksInPlaceLeavesNoSecretsBehind) {
  tp_heap_options options{sizeof(options), "secret", 0, true};
  tp_heap* heap = tp_heap_create(&options);
  auto* block = static_cast<unsigned char*>(tp_heap_malloc(heap, 1 << 20));
  ASSERT_NE(nullptr, block);
  memset(block, 0xaa, 1 << 20);
  ASSERT_EQ(block, tp_realloc(block, 200000)) << "in place";
  auto* volatile stale = block;
  EXPECT_TRUE(test::shows_nothing_of(stale + tp_usable_size(block), (1 << 20) - tp_usable_size(block), 0xaa));
  EXPECT_EQ(0xaa, block[199999]) << "what stays is as it was";
  tp_free(block);
  tp_heap_destroy(heap);
}

TEST(Realloc, ThatShrinksLeavesNoSecretsBehindWhereTheWholeProcessZeroes) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(0, tp_set_option(tp_option_zero_on_free, 1));
    // In place, to a small block, and from one small block to another.
    for (auto [from, to] : {std::pair<size_t, size_t>{1 << 20, 200000}, {1 << 20, 1000}, {70000, 40000}, {5000, 300}}) {
      auto* block = static_cast<unsigned char*>(tp_malloc(from));
      memset(block, 0xaa, from);
      auto* moved = static_cast<unsigned char*>(tp_realloc(block, to));
      ASSERT_NE(nullptr, moved);
      size_t kept = moved == block ? tp_usable_size(moved) : 0;
      auto* volatile stale = block;
      EXPECT_TRUE(test::shows_nothing_of(stale + kept, from - kept, 0xaa)) << from << " -> " << to;
      EXPECT_EQ(0xaa, moved[to - 1]);
      tp_free(moved);
    }
  });
}

TEST(Realloc, OfAHeapsBlockKeepsTheContents) {
  tp_heap* heap = tp_heap_create(nullptr);
  ASSERT_NE(nullptr, heap);
  for (size_t from : {50, 3000, 100000}) {
    auto* block = static_cast<unsigned char*>(tp_heap_malloc(heap, from));
    fill_all(block, from, 5);
    block = static_cast<unsigned char*>(tp_realloc(block, from * 3));
    ASSERT_NE(nullptr, block);
    EXPECT_TRUE(has_all(block, from, 5));
    tp_free(block);
  }
  tp_heap_destroy(heap);
}

TEST(Realloc, GrowingByStepsKeepsEverything) {
  auto* block = static_cast<unsigned char*>(tp_malloc(1));
  block[0] = 0;
  size_t size = 1;
  while (size < (20u << 20)) {
    size_t next = size + size / 3 + 1;
    block = static_cast<unsigned char*>(tp_realloc(block, next));
    ASSERT_NE(nullptr, block);
    for (size_t i = size; i < next; ++i) block[i] = static_cast<unsigned char>(i >> 3);
    size = next;
  }
  for (size_t i = 0; i < size; ++i) ASSERT_EQ(static_cast<unsigned char>(i >> 3), block[i]) << i;
  while (size > 1) {
    size = size / 2;
    block = static_cast<unsigned char*>(tp_realloc(block, size));
    ASSERT_NE(nullptr, block);
    ASSERT_EQ(static_cast<unsigned char>((size - 1) >> 3), block[size - 1]);
  }
  tp_free(block);
}

// Behind the last block lies what was never used: growing into it moves nothing.
TEST(Realloc, GrowingByStepsOfASliceStaysInPlace) {
  IN_A_QUIET_PROCESS({
    constexpr size_t step = 65536;
    constexpr size_t most = size_t{128} << 20;
    auto* block = static_cast<unsigned char*>(tp_malloc(step));
    int moves = 0;
    for (size_t size = step; size < most; size += step) {
      memcpy(block + size - sizeof(size), &size, sizeof(size));
      auto* grown = static_cast<unsigned char*>(tp_realloc(block, size + step));
      ASSERT_NE(nullptr, grown);
      moves += grown != block;
      block = grown;
    }
    EXPECT_LE(moves, 8);
    for (size_t size = step; size < most; size += step) {
      size_t kept = 0;
      memcpy(&kept, block + size - sizeof(kept), sizeof(kept));
      ASSERT_EQ(size, kept);
    }
    EXPECT_EQ(most, test::statistics().live_bytes);
    EXPECT_TRUE(tp_is_valid());
    // Its end is free again, and no other block's.
    ASSERT_EQ(block, tp_realloc(block, most / 2));
    auto* other = static_cast<unsigned char*>(tp_malloc(most));
    ASSERT_NE(nullptr, other);
    EXPECT_TRUE(other >= block + most / 2 || other + most <= block);
    tp_free(other);
    tp_free(block);
    EXPECT_EQ(0u, test::statistics().live_bytes);
    EXPECT_TRUE(tp_is_valid());
  });
}

size_t resident_pages(void* block, size_t size) {
  std::vector<unsigned char> pages(size / tp::os::page_size());
  EXPECT_EQ(0, mincore(block, size, pages.data()));
  return static_cast<size_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page % 2 != 0; }));
}

// Touches one page of each step: a step that copied the block would bring all its pages into memory.
TEST(Realloc, GrowingByStepsOfASliceCopiesNothing) {
  if (getenv("TIDEPOOL_UNDER_QEMU") != nullptr) GTEST_SKIP() << "qemu does not know which pages are resident";
  IN_A_QUIET_PROCESS({
    ASSERT_EQ(0, tp_set_option(tp_option_huge_pages, 0));
    constexpr size_t step = 65536;
    constexpr size_t most = size_t{256} << 20;
    constexpr size_t check_each = size_t{4} << 20;
    auto* block = static_cast<char*>(tp_malloc(step));
    for (size_t size = step; size < most; size += step) {
      memcpy(block + size - sizeof(size), &size, sizeof(size));
      block = static_cast<char*>(tp_realloc(block, size + step));
      ASSERT_NE(nullptr, block);
      if (size % check_each != 0) continue;
      ASSERT_LE(resident_pages(block, size), (size + check_each / 4) / step * 2) << "copied on the way to " << size;
    }
    for (size_t size = step; size < most; size += step) ASSERT_EQ(0, memcmp(block + size - sizeof(size), &size, sizeof(size)));
    tp_free(block);
  });
}

// Grows a block to most bytes, a slice at a time; behind each step lies a block that stays. Returns how often it moved.
int grow_beside_neighbours(tp_heap* heap, unsigned char*& block, size_t most) {
  constexpr size_t step = 65536;
  int moves = 0;
  block = static_cast<unsigned char*>(heap != nullptr ? tp_heap_malloc(heap, step) : tp_malloc(step));
  std::vector<void*> neighbours;
  for (size_t size = step; size < most; size += step) {
    memcpy(block + size - sizeof(size), &size, sizeof(size));
    neighbours.push_back(heap != nullptr ? tp_heap_malloc(heap, 4 * step) : tp_malloc(4 * step));
    auto* grown = static_cast<unsigned char*>(tp_realloc(block, size + step));
    moves += grown != block;
    block = grown;
    EXPECT_EQ(size + step, tp_usable_size(block)) << "what it has as headroom is not the program's";
  }
  for (void* neighbour : neighbours) tp_free(neighbour);
  for (size_t size = step; size < most; size += step) {
    EXPECT_EQ(0, memcmp(block + size - sizeof(size), &size, sizeof(size))) << size;
  }
  return moves;
}

// One that had to move has a quarter of its length as headroom, whatever lies behind that.
TEST(Realloc, AMoveLeavesHeadroomForTheNextSteps) {
  IN_A_QUIET_PROCESS({
    constexpr size_t step = 65536;
    constexpr size_t length = 32 * step;
    auto* first = static_cast<unsigned char*>(tp_malloc(length));
    void* behind = tp_malloc(step);
    auto* moved = static_cast<unsigned char*>(tp_realloc(first, length + step));
    ASSERT_NE(first, moved) << "a neighbour lies behind it";
    void* behind_that = tp_malloc(step);
    for (size_t more = 2; more <= 8; ++more) ASSERT_EQ(moved, tp_realloc(moved, length + more * step)) << more;
    EXPECT_EQ(length + 8 * step, tp_usable_size(moved));
    tp_free(behind);
    tp_free(behind_that);
    tp_free(moved);
    EXPECT_TRUE(tp_is_valid());
  });
}

TEST(Realloc, GrowingBesideNeighboursMovesSeldom) {
  IN_A_QUIET_PROCESS({
    constexpr size_t most = size_t{64} << 20;
    unsigned char* block = nullptr;
    EXPECT_LE(grow_beside_neighbours(nullptr, block, most), 40) << "of 1023 steps; each quarter more is one";
    EXPECT_TRUE(tp_is_valid());
    ASSERT_EQ(block, tp_realloc(block, most / 2)) << "a shorter one gives its headroom back, too";
    EXPECT_EQ(most / 2, tp_usable_size(block));
    EXPECT_EQ(most / 2, test::statistics().live_bytes);
    tp_free(block);
    EXPECT_EQ(0u, test::statistics().live_bytes);
  });
}

TEST(Realloc, GrowingInAHeapBesideNeighboursMovesSeldomAndCountsNoHeadroomAsLive) {
  IN_A_QUIET_PROCESS({
    constexpr size_t most = size_t{32} << 20;
    unsigned char* block = nullptr;
    tp_heap* heap = tp_heap_create(nullptr);
    EXPECT_LE(grow_beside_neighbours(heap, block, most), 40);
    size_t live = 0, held = 0;
    tp_heap_usage(heap, &live, &held);
    EXPECT_EQ(most, live);
    EXPECT_GE(held, live);
    EXPECT_LE(held, live + live / 4 + 65536);
    tp_heap_destroy(heap);
    EXPECT_EQ(0u, test::statistics().live_bytes);
    EXPECT_TRUE(tp_is_valid());
  });
}

// A limit counts headroom, so a block grows without where there is one.
TEST(Realloc, GrowingBesideANeighbourUsesTheLimitToItsEnd) {
  IN_A_QUIET_PROCESS({
    tp_heap_options options{sizeof(options), "small", 9 << 20, false};
    tp_heap* heap = tp_heap_create(&options);
    void* block = tp_heap_malloc(heap, 4 << 20);
    void* neighbour = tp_heap_malloc(heap, 65536);
    EXPECT_NE(nullptr, block = tp_realloc(block, (4 << 20) + 65536)) << "twice the block and its neighbour";
    EXPECT_EQ(nullptr, tp_realloc(block, 9 << 20));
    tp_free(neighbour);
    tp_heap_destroy(heap);
  });
}

TEST(Realloc, GrowingInPlaceEndsAtTheLimit) {
  IN_A_QUIET_PROCESS({
    ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, 32 << 20));
    constexpr size_t step = 65536;
    size_t size = step;
    auto* block = static_cast<unsigned char*>(tp_malloc(size));
    ASSERT_NE(nullptr, block);
    memset(block, 7, size);
    for (void* grown = block; grown != nullptr && size < (64u << 20);) {
      errno = 0;
      grown = tp_realloc(block, size + step);
      if (grown == nullptr) break;
      block = static_cast<unsigned char*>(grown);
      memset(block + size, 7, step);
      size += step;
      EXPECT_LE(test::statistics().committed_bytes, 32u << 20);
    }
    EXPECT_EQ(ENOMEM, errno);
    EXPECT_LT(size, 32u << 20);
    EXPECT_GT(size, 24u << 20);
    for (size_t i = 0; i < size; ++i) ASSERT_EQ(7, block[i]) << i;
    EXPECT_TRUE(tp_is_valid());
    tp_free(block);
    EXPECT_EQ(0u, test::statistics().live_bytes);
    tp_free(tp_malloc(24 << 20));
  });
}

TEST(Realloc, GrowingInPlaceEndsAtTheLimitOfItsHeap) {
  IN_A_QUIET_PROCESS({
    tp_heap_options options{sizeof(options), "small", 4 << 20, false};
    tp_heap* heap = tp_heap_create(&options);
    constexpr size_t step = 65536;
    size_t size = step;
    void* block = tp_heap_malloc(heap, size);
    for (void* grown = block; (grown = tp_realloc(block, size + step)) != nullptr; size += step) block = grown;
    EXPECT_EQ(options.limit, size);
    size_t live = 0, held = 0;
    tp_heap_usage(heap, &live, &held);
    EXPECT_EQ(size, live);
    EXPECT_EQ(size, held);
    tp_heap_destroy(heap);
    EXPECT_TRUE(tp_is_valid());
  });
}

TEST(Realloc, ARandomProgramBesideAModel) {
  test::Random random(4711);
  struct Entry {
    unsigned char* block;
    size_t size;
    unsigned key;
  };
  std::vector<Entry> entries(40, Entry{nullptr, 0, 0});
  for (unsigned step = 0; step < 3000; ++step) {
    Entry& entry = entries[random.below(entries.size())];
    size_t size = random.below(size_t{1} << random.below(21));
    if (entry.block != nullptr) {
      ASSERT_TRUE(has_all(entry.block, entry.size, entry.key)) << "step " << step;
    }
    size_t common = entry.size < size ? entry.size : size;
    entry.block = static_cast<unsigned char*>(tp_realloc(entry.block, size));
    ASSERT_NE(nullptr, entry.block);
    ASSERT_TRUE(has_all(entry.block, common, entry.key)) << "step " << step;
    entry.size = size;
    entry.key = step;
    fill_all(entry.block, size, step);
  }
  for (Entry& entry : entries) tp_free(entry.block);
}

}  // namespace
