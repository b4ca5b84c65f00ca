#include "tidepool/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <thread>
#include <type_traits>
#include <utility>

#include "support.h"

namespace {

using tests::hidden;
using tests::is_aligned;

static_assert(!std::is_copy_constructible_v<tp::buffer_lease<int>>);
static_assert(!std::is_copy_assignable_v<tp::buffer_lease<int>>);
static_assert(std::is_nothrow_move_constructible_v<tp::buffer_lease<int>>);

TEST(BufferLease, HasExactlyTheLengthThatWasRented) {
  for (std::size_t count : {1u, 3u, 100u, 5000u, 100000u}) {
    auto lease = tp::rent<int>(count);
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease.size(), count);
    EXPECT_EQ(lease.size_bytes(), count * sizeof(int));
    EXPECT_EQ(lease.span().size(), count);
    EXPECT_EQ(lease.span().data(), lease.data());
    std::iota(lease.begin(), lease.end(), 0);
    EXPECT_EQ(lease[count - 1], static_cast<int>(count - 1));
    EXPECT_EQ(static_cast<std::size_t>(lease.end() - lease.begin()), count);
  }
}

TEST(BufferLease, OfZeroElementsIsNotEmpty) {
  auto lease = tp::rent<int>(0);
  EXPECT_TRUE(lease);
  EXPECT_EQ(lease.size(), 0u);
  EXPECT_TRUE(lease.return_now());
}

TEST(BufferLease, IsGivenBackOnce) {
  auto lease = tp::rent<char>(100);
  EXPECT_TRUE(lease.return_now());
  EXPECT_FALSE(lease.return_now());
  EXPECT_FALSE(lease);
  EXPECT_EQ(lease.size(), 0u);
  EXPECT_EQ(lease.data(), nullptr);
}

TEST(BufferLease, MovesAndLeavesTheSourceEmpty) {
  auto first = tp::rent<char>(100);
  char* data = first.data();
  tp::buffer_lease<char> second(std::move(first));
  EXPECT_FALSE(first);  // NOLINT: what a moved-from lease promises
  EXPECT_EQ(first.size(), 0u);
  EXPECT_EQ(second.data(), data);
  auto third = tp::rent<char>(7);
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.size(), 100u);
  EXPECT_FALSE(second);
  auto& same = third;
  third = std::move(same);
  EXPECT_EQ(third.data(), data) << "moving to itself changes nothing";
}

TEST(BufferLease, GivesBackWhatItHeldWhenItTakesOver) {
  tp_statistics before{}, after{};
  before.struct_size = after.struct_size = sizeof before;
  auto lease = tp::rent<char>(4000);
  tp_get_statistics(&before);
  for (int i = 0; i < 1000; ++i) lease = tp::rent<char>(4000);
  tp_get_statistics(&after);
  EXPECT_LT(after.live_bytes, before.live_bytes + 100 * 4000);
}

TEST(BufferLease, ReleasedIsTheCallersBlock) {
  auto lease = tp::rent<int>(50, 64);
  int* block = lease.detach();
  EXPECT_FALSE(lease);
  EXPECT_TRUE(is_aligned(block, 64));
  tp_free(block);
}

TEST(BufferLease, IsAligned) {
  struct alignas(128) wide {
    float lanes[32];
  };
  for (std::size_t alignment : {1u, 16u, 32u, 64u, 4096u}) {
    auto floats = tp::rent<float>(1000, alignment);
    EXPECT_TRUE(is_aligned(floats.data(), alignment));
    auto wides = tp::rent<wide>(3, alignment);
    EXPECT_TRUE(is_aligned(wides.data(), std::max<std::size_t>(alignment, 128))) << "alignof(T) counts when it is more";
  }
}

TEST(BufferLease, ZeroedIsZeroAlsoWhenTheBlockWasUsedBefore) {
  for (std::size_t count : {1u, 100u, 5000u, 300000u}) {
    { auto dirty = tp::rent<unsigned char>(count); std::fill(dirty.begin(), dirty.end(), 0xff); }
    auto zeroed = tp::rent_zeroed<unsigned char>(count);
    EXPECT_EQ(std::count(zeroed.begin(), zeroed.end(), 0), static_cast<std::ptrdiff_t>(count));
    auto aligned = tp::rent_zeroed<unsigned char>(count, 256);
    EXPECT_TRUE(is_aligned(aligned.data(), 256));
    EXPECT_EQ(std::count(aligned.begin(), aligned.end(), 0), static_cast<std::ptrdiff_t>(count));
  }
}

TEST(BufferLease, ThatCannotBeHadThrowsOrIsEmpty) {
  EXPECT_THROW(tp::rent<char>(hidden(SIZE_MAX)), std::bad_alloc);
  EXPECT_THROW(tp::rent<long>(hidden(SIZE_MAX / 4)), std::bad_alloc) << "the product overflows";
  EXPECT_THROW(tp::rent_zeroed<long>(hidden(SIZE_MAX / 4)), std::bad_alloc);
  errno = 0;
  auto lease = tp::try_rent<long>(hidden(SIZE_MAX / 4));
  EXPECT_FALSE(lease);
  EXPECT_EQ(lease.size(), 0u);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_FALSE(tp::try_rent<char>(10, 48)) << "48 is no power of two";
  EXPECT_FALSE(tp::try_rent_zeroed<char>(hidden(SIZE_MAX - 1)));
}

TEST(BufferLease, MayEndInAnotherThread) {
  auto lease = tp::rent<int>(100);
  std::iota(lease.begin(), lease.end(), 0);
  long sum = 0;
  std::thread([moved = std::move(lease), &sum]() mutable {
    sum = std::accumulate(moved.begin(), moved.end(), 0L);
    moved.return_now();
  }).join();
  EXPECT_EQ(sum, 4950);
}

}  // namespace
