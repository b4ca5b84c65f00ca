// tp_malloc, tp_zalloc, tp_calloc, the aligned forms and their frees.
#include <errno.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "support/pattern.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

// 0, 1, and each class boundary with its neighbours; pages and large blocks beyond.
std::vector<size_t> interesting_sizes() {
  std::vector<size_t> sizes{0, 1, 2, 7, 8, 15};
  for (size_t i = 0; i < tp_class_count(); ++i) {
    for (size_t size : {tp_class_size(i) - 1, tp_class_size(i), tp_class_size(i) + 1}) sizes.push_back(size);
  }
  for (size_t size : {65535, 65536, 65537, 131072, 200000, 1 << 20, (1 << 20) + 1, 5 << 20, 32 << 20, 40 << 20}) sizes.push_back(size);
  return sizes;
}

class Sizes : public testing::TestWithParam<size_t> {};

TEST_P(Sizes, AreUsableToTheLastByteAndKeepApart) {
  size_t size = GetParam();
  void* blocks[3];
  for (void*& block : blocks) {
    block = tp_malloc(size);
    ASSERT_NE(nullptr, block);
    EXPECT_TRUE(test::is_aligned(block, 16));
    EXPECT_GE(tp_usable_size(block), size);
    EXPECT_TRUE(tp_owns(block));
    test::fill(block, tp_usable_size(block), size);
  }
  for (void* block : blocks) EXPECT_TRUE(test::is_filled(block, tp_usable_size(block), size));
  tp_free(blocks[1]);
  tp_free_sized(blocks[0], size);
  tp_free_sized(blocks[2], tp_usable_size(blocks[2]));
}

TEST_P(Sizes, AreZeroWhenAskedForAlsoInUsedMemory) {
  size_t size = GetParam();
  for (int round = 0; round < 3; ++round) {
    auto* block = static_cast<unsigned char*>(tp_zalloc(size));
    ASSERT_NE(nullptr, block);
    EXPECT_TRUE(test::is_zero(block, size));
    memset(block, 0xa5, tp_usable_size(block));
    tp_free(block);
    block = static_cast<unsigned char*>(tp_calloc(size / 8 + 1, 8));
    ASSERT_NE(nullptr, block);
    EXPECT_TRUE(test::is_zero(block, (size / 8 + 1) * 8));
    memset(block, 0x5a, tp_usable_size(block));
    tp_free(block);
  }
}

TEST_P(Sizes, TakeWhatGoodSizeSays) {
  size_t size = GetParam();
  void* block = tp_malloc(size);
  EXPECT_EQ(tp_good_size(size), tp_usable_size(block));
  tp_free(block);
}

INSTANTIATE_TEST_SUITE_P(All, Sizes, testing::ValuesIn(interesting_sizes()));

TEST(Allocate, BlocksOfSizeZeroAreOfTheirOwn) {
  std::set<void*> blocks;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(blocks.insert(tp_malloc(0)).second);
  for (void* block : blocks) tp_free(block);
}

TEST(Allocate, TooMuchIsRefusedWithEnomem) {
  for (size_t size : {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 65536, SIZE_MAX / 2 + 1, static_cast<size_t>(PTRDIFF_MAX) + 1,
                      static_cast<size_t>(PTRDIFF_MAX), static_cast<size_t>(PTRDIFF_MAX) - 65535}) {
    errno = 0;
    volatile size_t asked = size;  // the compiler knows that this is too much
    EXPECT_EQ(nullptr, tp_malloc(asked)) << size;
    EXPECT_EQ(ENOMEM, errno);
    errno = 0;
    EXPECT_EQ(nullptr, tp_zalloc(asked)) << size;
    EXPECT_EQ(ENOMEM, errno);
    errno = 0;
    EXPECT_EQ(nullptr, tp_aligned_alloc(64, asked)) << size;
    EXPECT_EQ(ENOMEM, errno);
    errno = 0;
    EXPECT_EQ(nullptr, tp_aligned_alloc(1 << 20, asked)) << size;
    EXPECT_EQ(ENOMEM, errno);
    errno = 0;
    EXPECT_EQ(nullptr, tp_realloc(nullptr, asked)) << size;
    EXPECT_EQ(ENOMEM, errno);
  }
}

TEST(Allocate, OverflowOfCountTimesSizeIsRefused) {
  const size_t half = size_t{1} << 32;
  const size_t pairs[][2] = {{half, half}, {SIZE_MAX, 2}, {2, SIZE_MAX}, {SIZE_MAX / 16 + 1, 16}, {half + 1, half}};
  for (auto& pair : pairs) {
    volatile size_t count = pair[0], size = pair[1];
    errno = 0;
    EXPECT_EQ(nullptr, tp_calloc(count, size));
    EXPECT_EQ(ENOMEM, errno);
    void* block = tp_malloc(100);
    test::fill(block, 100, 1);
    errno = 0;
    EXPECT_EQ(nullptr, tp_reallocarray(block, count, size));
    EXPECT_EQ(ENOMEM, errno);
    EXPECT_TRUE(test::is_filled(block, 100, 1)) << "the block is unchanged";
    tp_free(block);
  }
  volatile size_t most = SIZE_MAX;
  void* block = tp_calloc(0, most);
  EXPECT_NE(nullptr, block) << "0 * anything is 0";
  tp_free(block);
}

class Alignments : public testing::TestWithParam<size_t> {};

TEST_P(Alignments, HoldForEverySize) {
  size_t alignment = GetParam();
  // Blocks as large as the alignment only while their pages are soon touched.
  size_t like = alignment <= (1 << 21) ? alignment : 5000;
  for (size_t size : {size_t{0}, size_t{1}, size_t{24}, like / 2, like, like + 1, size_t{3000}, size_t{40000}, size_t{300000}}) {
    void* blocks[4];
    for (void*& block : blocks) {
      block = tp_aligned_alloc(alignment, size);
      ASSERT_NE(nullptr, block) << size;
      EXPECT_TRUE(test::is_aligned(block, alignment)) << size;
      EXPECT_GE(tp_usable_size(block), size);
      test::fill(block, size, alignment);
    }
    for (void* block : blocks) EXPECT_TRUE(test::is_filled(block, size, alignment));
    tp_free_aligned_sized(blocks[3], alignment, size);
    tp_free_sized(blocks[1], size);
    tp_free(blocks[0]);
    tp_free(blocks[2]);
    auto* zeroed = static_cast<unsigned char*>(tp_aligned_zalloc(alignment, size));
    ASSERT_NE(nullptr, zeroed);
    EXPECT_TRUE(test::is_aligned(zeroed, alignment));
    EXPECT_TRUE(test::is_zero(zeroed, size));
    tp_free(zeroed);
  }
}

std::vector<size_t> all_alignments() {
  std::vector<size_t> all;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr size_t most = size_t{1} << 28;  // their address space is small
#else
  constexpr size_t most = size_t{1} << 30;
#endif
  for (size_t alignment = 1; alignment <= most; alignment *= 2) all.push_back(alignment);
  return all;
}

INSTANTIATE_TEST_SUITE_P(PowersOfTwo, Alignments, testing::ValuesIn(all_alignments()));

TEST(Allocate, OtherAlignmentsAreRefusedWithEinval) {
  for (size_t alignment : {size_t{0}, size_t{3}, size_t{24}, size_t{65}, size_t{1} << 31, size_t{1} << 63, SIZE_MAX}) {
    volatile size_t asked = alignment;
    errno = 0;
    EXPECT_EQ(nullptr, tp_aligned_alloc(asked, 64)) << alignment;
    EXPECT_EQ(EINVAL, errno);
    errno = 0;
    EXPECT_EQ(nullptr, tp_aligned_zalloc(asked, 64)) << alignment;
    EXPECT_EQ(EINVAL, errno);
    void* blocks[2];
    errno = 0;
    EXPECT_EQ(0u, tp_aligned_alloc_batch(asked, 64, 2, blocks));
    EXPECT_EQ(EINVAL, errno);
  }
}

TEST(Allocate, PowerOfTwoSizesAreAlignedToTheirSize) {
  for (size_t size = 16; size <= 32768; size *= 2) {
    void* block = tp_malloc(size);
    EXPECT_TRUE(test::is_aligned(block, size)) << size;
    tp_free(block);
  }
}

TEST(Free, OfNullDoesNothingAndErrnoIsKept) {
  errno = 77;
  tp_free(nullptr);
  tp_free_sized(nullptr, 5);
  tp_free_aligned_sized(nullptr, 64, 5);
  EXPECT_EQ(77, errno);
  for (size_t size : {16, 5000, 32768, 100000, 50 << 20}) {
    std::vector<void*> blocks(300 / (size / 4096 + 1) + 2);
    for (void*& block : blocks) block = tp_malloc(size);
    errno = 78;
    for (void* block : blocks) tp_free(block);
    EXPECT_EQ(78, errno) << size;
  }
  EXPECT_EQ(0u, tp_usable_size(nullptr));
}

TEST(Owns, SaysWhoseMemoryItIs) {
  int local = 0;
  static int global = 0;
  std::vector<int> heap(10);
  for (const void* address : {static_cast<const void*>(&local), static_cast<const void*>(&global), static_cast<const void*>(heap.data()),
                              static_cast<const void*>(nullptr), reinterpret_cast<const void*>(UINTPTR_MAX)}) {
    EXPECT_FALSE(tp_owns(address));
  }
  for (size_t size : {16, 1000, 20000, 1000000}) {
    auto* block = static_cast<char*>(tp_malloc(size));
    EXPECT_TRUE(tp_owns(block));
    EXPECT_TRUE(tp_owns(block + size / 2)) << "an address inside, not only a block: " << size;
    tp_free(block);
  }
}

TEST(Allocate, ManyBlocksOfEachClassNeverOverlap) {
  for (size_t i = 0; i < tp_class_count(); ++i) {
    size_t size = tp_class_size(i);
    size_t count = (size_t{1} << 20) / size;  // more than a page of any class
    std::vector<void*> blocks(count);
    for (void*& block : blocks) {
      block = tp_malloc(size);
      ASSERT_NE(nullptr, block);
      test::fill(block, size, i);
    }
    for (void* block : blocks) {
      ASSERT_TRUE(test::is_filled(block, size, i)) << size;
      tp_free(block);
    }
  }
}

TEST(Version, IsThatOfTheHeader) {
  EXPECT_EQ(TIDEPOOL_VERSION_MAJOR * 10000 + TIDEPOOL_VERSION_MINOR * 100 + TIDEPOOL_VERSION_PATCH, tp_version());
  EXPECT_FALSE(tp_is_checked());
}

}  // namespace
