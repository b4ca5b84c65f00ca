#include "tidepool/unique.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support.h"

namespace {

using tests::counted;
using tests::is_aligned;

static_assert(sizeof(tp::unique_ptr<int>) == sizeof(int*), "the deleter has no state");

std::size_t live_bytes() {
  tp_statistics statistics{};
  statistics.struct_size = sizeof statistics;
  tp_get_statistics(&statistics);
  return statistics.live_bytes;
}

TEST(Unique, ConstructsAndDestroysOnce) {
  ASSERT_EQ(counted::live, 0);
  {
    auto object = tp::make_unique<counted>(42);
    EXPECT_EQ(object->value, 42);
    EXPECT_EQ(counted::live, 1);
    auto moved = std::move(object);
    EXPECT_EQ(counted::live, 1);
  }
  EXPECT_EQ(counted::live, 0);
}

TEST(Unique, ObjectsDoNotOverlap) {
  std::vector<tp::unique_ptr<counted>> objects;
  for (int i = 0; i < 1000; ++i) objects.push_back(tp::make_unique<counted>(i));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(objects[static_cast<std::size_t>(i)]->value, i);
}

TEST(Unique, ForwardsItsArguments) {
  auto text = std::make_unique<std::string>("moved");
  auto pair = tp::make_unique<std::pair<std::unique_ptr<std::string>, int>>(std::move(text), 7);
  EXPECT_EQ(*pair->first, "moved");
  EXPECT_EQ(text, nullptr);
}

TEST(Unique, LosesNothingWhenTheConstructorThrows) {
  { auto warm = tp::make_unique<counted>(); }
  std::size_t before = live_bytes();
  for (int i = 0; i < 1000; ++i) {
    counted::until_throw = 0;
    EXPECT_THROW(static_cast<void>(tp::make_unique<counted>()), std::runtime_error);
  }
  EXPECT_EQ(counted::live, 0);
  EXPECT_LT(live_bytes(), before + 1000 * sizeof(counted) / 2) << "blocks of failed constructions went back";
}

TEST(Unique, OverAlignedObjectsAreAligned) {
  struct alignas(256) page {
    char bytes[300];
  };
  std::vector<tp::unique_ptr<page>> pages;
  for (int i = 0; i < 50; ++i) {
    pages.push_back(tp::make_unique<page>());
    EXPECT_TRUE(is_aligned(pages.back().get(), 256));
  }
}

TEST(Unique, LargeObjectsWork) {
  struct large {
    char bytes[100000];
  };
  auto object = tp::make_unique<large>();
  object->bytes[99999] = 1;
  EXPECT_EQ(object->bytes[99999], 1);
}

TEST(Unique, MayEndInAnotherThreadAndInASharedPointer) {
  auto object = tp::make_unique<counted>(1);
  std::thread([moved = std::move(object)]() mutable { moved.reset(); }).join();
  EXPECT_EQ(counted::live, 0);
  std::shared_ptr<counted> shared = tp::make_unique<counted>(2);
  EXPECT_EQ(shared->value, 2);
  shared.reset();
  EXPECT_EQ(counted::live, 0);
}

TEST(Unique, NullIsNothingToDestroy) {
  tp::destroy<counted>(nullptr);
  tp::unique_ptr<counted> empty;
  EXPECT_EQ(counted::live, 0);
}

}  // namespace
