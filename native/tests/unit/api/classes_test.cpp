// tp_good_size, tp_class_count, tp_class_size, tp_class_index.
#include <gtest/gtest.h>
#include <stdint.h>

#include "tidepool/tidepool.h"

namespace {

TEST(Classes, AscendAndServeEverySizeUpTo32KiB) {
  size_t count = tp_class_count();
  ASSERT_GT(count, 0u);
  for (size_t i = 1; i < count; ++i) EXPECT_LT(tp_class_size(i - 1), tp_class_size(i));
  EXPECT_EQ(32768u, tp_class_size(count - 1));
  for (size_t size = 0; size <= 32768; ++size) {
    size_t index = tp_class_index(size);
    ASSERT_LT(index, count) << size;
    ASSERT_GE(tp_class_size(index), size);
    if (index > 0) {
      ASSERT_LT(tp_class_size(index - 1), size) << "the smallest class that serves " << size;
    }
    ASSERT_EQ(tp_class_size(index), tp_good_size(size));
  }
}

TEST(Classes, EndWhereWholePagesBegin) {
  for (size_t size : {size_t{32769}, size_t{65536}, size_t{1} << 30, SIZE_MAX}) EXPECT_EQ(tp_class_count(), tp_class_index(size));
  EXPECT_EQ(0u, tp_class_size(tp_class_count()));
  EXPECT_EQ(0u, tp_class_size(SIZE_MAX));
}

TEST(GoodSize, OfLargeBlocksIsWholePages) {
  for (size_t size : {size_t{32769}, size_t{65535}, size_t{65536}, size_t{65537}, size_t{1000000}, size_t{1} << 33}) {
    EXPECT_EQ((size + 65535) / 65536 * 65536, tp_good_size(size));
  }
}

TEST(GoodSize, IsZeroForTooMuch) {
  EXPECT_EQ(0u, tp_good_size(static_cast<size_t>(PTRDIFF_MAX) + 1));
  EXPECT_EQ(0u, tp_good_size(SIZE_MAX));
}

TEST(Classes, WasteAtMostAnEighthUpTo8KiBAndAQuarterAbove) {
  for (size_t size = 129; size <= 32768; ++size) {
    size_t waste = tp_good_size(size) - size;
    ASSERT_LE(waste, size / (size <= 8192 ? 8 : 4)) << size;
  }
}

}  // namespace
