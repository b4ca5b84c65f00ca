#include "tidepool/tag.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "support.h"
#include "tidepool/memory_resource.hpp"

namespace {

using tests::hidden;
using tests::is_aligned;

constinit tp::tag global_tag{"global", 1000};

TEST(Tag, ChargesRefundsAndRemembersThePeak) {
  tp::tag tag("audio", 1000);
  EXPECT_EQ(std::string(tag.name()), "audio");
  EXPECT_EQ(tag.budget(), 1000u);
  EXPECT_TRUE(tag.try_charge(600));
  EXPECT_FALSE(tag.try_charge(401)) << "one byte more than the budget";
  EXPECT_EQ(tag.used(), 600u) << "a refused charge adds nothing";
  EXPECT_EQ(tag.refused(), 1u);
  EXPECT_TRUE(tag.try_charge(400)) << "exactly the budget";
  EXPECT_EQ(tag.peak(), 1000u);
  EXPECT_FALSE(tag.try_charge(hidden(SIZE_MAX - 10))) << "the sum overflows";
  tag.refund(1000);
  EXPECT_EQ(tag.used(), 0u);
  EXPECT_EQ(tag.peak(), 1000u);
  EXPECT_FALSE(tag.try_charge(hidden(SIZE_MAX)));
}

TEST(Tag, BudgetMayChangeWhileInUse) {
  tp::tag tag("budget");
  EXPECT_TRUE(tag.try_charge(5000));
  tag.set_budget(100);
  EXPECT_FALSE(tag.try_charge(1));
  EXPECT_FALSE(tag.try_charge(0)) << "over the budget every charge is refused";
  tag.refund(4950);
  EXPECT_TRUE(tag.try_charge(50));
}

TEST(Tag, AllocationsAreChargedAndRefused) {
  void* first = tp::allocate(global_tag, 900);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(global_tag.used(), 900u);
  errno = 0;
  EXPECT_EQ(tp::allocate(global_tag, 200), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  void* second = tp::allocate(global_tag, 100, 64);
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(is_aligned(second, 64));
  tp::deallocate(global_tag, first, 900);
  tp::deallocate(global_tag, second, 100, 64);
  tp::deallocate(global_tag, nullptr, 100);
  EXPECT_EQ(global_tag.used(), 0u);
}

TEST(Tag, WhatTheSystemRefusesIsNotCharged) {
  tp::tag tag("unlimited");
  EXPECT_EQ(tp::allocate(tag, SIZE_MAX / 2 + 1), nullptr);
  EXPECT_EQ(tp::allocate(tag, 100, 48), nullptr) << "48 is no power of two";
  EXPECT_EQ(tag.used(), 0u);
}

// The budget is never passed, whatever the threads do at once, and a charge that fits is never refused: each thread holds
// at most its share, and the shares together are the budget.
TEST(Tag, BudgetHoldsExactlyUnderThreads) {
  constexpr std::size_t threads = 4, share = 1000;
  tp::tag tag("threads", threads * share);
  std::barrier start(threads);
  std::atomic<bool> passed{false};
  std::atomic<int> refused{0};
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      tests::random random(t + 7);
      start.arrive_and_wait();
      for (int i = 0; i < 500000; ++i) {
        std::size_t bytes = 1 + random.below(share);
        if (!tag.try_charge(bytes)) {
          ++refused;
          continue;
        }
        if (tag.used() > tag.budget()) passed = true;
        tag.refund(bytes);
      }
    });
  }
  for (auto& thread : running) thread.join();
  EXPECT_FALSE(passed);
  EXPECT_EQ(refused, 0) << "every charge fitted into its thread's share";
  EXPECT_EQ(tag.used(), 0u);
  EXPECT_LE(tag.peak(), tag.budget());
  EXPECT_GT(tag.peak(), 0u);
}

// With more demand than budget some are refused, and still nothing is lost or counted twice.
TEST(Tag, RefusalsLoseNothingUnderThreads) {
  tp::tag tag("scarce", 2000);
  std::barrier start(4);
  std::atomic<bool> passed{false};
  std::atomic<long> granted{0};
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < 4; ++t) {
    running.emplace_back([&, t] {
      tests::random random(t + 99);
      start.arrive_and_wait();
      std::vector<std::pair<void*, std::size_t>> held;
      for (int i = 0; i < 20000; ++i) {
        std::size_t bytes = 1 + random.below(500);
        void* block = tp::allocate(tag, bytes);
        if (block != nullptr) {
          held.emplace_back(block, bytes);
          ++granted;
        }
        if (tag.used() > 2000) passed = true;
        // A thread that is refused makes room: what the others hold may be the whole budget.
        if (held.size() > 10 || (block == nullptr && !held.empty())) {
          tp::deallocate(tag, held.front().first, held.front().second);
          held.erase(held.begin());
        }
      }
      for (auto& [block, bytes] : held) tp::deallocate(tag, block, bytes);
    });
  }
  for (auto& thread : running) thread.join();
  EXPECT_FALSE(passed);
  EXPECT_GT(granted, 1000);
  EXPECT_GT(tag.refused(), 0u);
  EXPECT_LE(tag.peak(), 2000u);
  EXPECT_EQ(tag.used(), 0u);
}

// What was never had was never in use.
TEST(Tag, BlocksThatCannotBeHadDoNotRaiseThePeak) {
  tp::tag tag("peak");
  void* block = tp::allocate(tag, 1000);
  EXPECT_EQ(tp::allocate(tag, hidden(SIZE_MAX / 2)), nullptr);
  EXPECT_EQ(tp::allocate(tag, 10, hidden(3)), nullptr);
  tp::tag_resource resource(tag);
  EXPECT_THROW(static_cast<void>(resource.allocate(hidden(SIZE_MAX / 2))), std::bad_alloc);
  EXPECT_EQ(tag.used(), 1000u);
  EXPECT_EQ(tag.peak(), 1000u);
  void* more = resource.allocate(500);
  EXPECT_EQ(tag.peak(), 1500u);
  resource.deallocate(more, 500);
  tp::deallocate(tag, block, 1000);
  EXPECT_EQ(tag.used(), 0u);
}

}  // namespace
