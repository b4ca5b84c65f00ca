#include "tidepool/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support.h"

namespace {

using tests::counted;
using tests::is_aligned;

static_assert(!std::is_copy_constructible_v<tp::lease<int>>);
static_assert(std::is_nothrow_move_constructible_v<tp::lease<int>>);
static_assert(!std::is_copy_constructible_v<tp::pool<int>>);

struct item {
  std::uint64_t owner;
  std::uint64_t sequence;
  std::uint64_t check;
};

TEST(Pool, LeaseConstructsAndGivesBackOnce) {
  tp::pool<counted> pool;
  {
    tp::lease<counted> lease = pool.rent(5);
    EXPECT_EQ(lease->value, 5);
    EXPECT_EQ((*lease).value, 5);
    EXPECT_EQ(counted::live, 1);
    EXPECT_GE(pool.get_usage().live_bytes, sizeof(counted));
    EXPECT_TRUE(lease.return_now());
    EXPECT_EQ(counted::live, 0);
    EXPECT_FALSE(lease.return_now());
    EXPECT_EQ(lease.get(), nullptr);
  }
  EXPECT_EQ(counted::live, 0);
  EXPECT_EQ(pool.get_usage().live_bytes, 0u);
}

TEST(Pool, LeasesMove) {
  tp::pool<counted> pool;
  auto first = pool.rent(1);
  counted* object = first.get();
  tp::lease<counted> second(std::move(first));
  EXPECT_FALSE(first);  // NOLINT: what a moved-from lease promises
  EXPECT_EQ(second.get(), object);
  auto third = pool.rent(2);
  EXPECT_EQ(counted::live, 2);
  third = std::move(second);
  EXPECT_EQ(counted::live, 1) << "what the target held went back";
  auto& same = third;
  third = std::move(same);
  EXPECT_EQ(third.get(), object);
  counted* raw = third.detach();
  EXPECT_FALSE(third);
  EXPECT_EQ(counted::live, 1);
  pool.destroy(raw);
  EXPECT_EQ(counted::live, 0);
  EXPECT_EQ(pool.get_usage().live_bytes, 0u);
}

TEST(Pool, ObjectsDoNotOverlap) {
  tp::pool<item> pool;
  std::vector<item*> items;
  for (std::uint64_t i = 0; i < 10000; ++i) items.push_back(pool.construct(item{i, i * 3, ~i}));
  std::set<item*> distinct(items.begin(), items.end());
  EXPECT_EQ(distinct.size(), items.size());
  for (std::uint64_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(items[i]->owner, i);
    ASSERT_EQ(items[i]->check, ~i);
    pool.destroy(items[i]);
  }
  EXPECT_EQ(pool.get_usage().live_bytes, 0u);
}

TEST(Pool, LosesNothingWhenTheConstructorThrows) {
  tp::pool<counted> pool({.name = "throws", .limit = 1 << 16});
  for (int i = 0; i < 10000; ++i) {  // far beyond the limit if failed constructions kept their blocks
    counted::until_throw = 0;
    ASSERT_THROW(static_cast<void>(pool.construct()), std::runtime_error);
    counted::until_throw = 0;
    ASSERT_THROW(static_cast<void>(pool.rent()), std::runtime_error);
  }
  EXPECT_EQ(counted::live, 0);
  EXPECT_EQ(pool.get_usage().live_bytes, 0u);
}

TEST(Pool, KeepsItsLimit) {
  struct kilobyte {
    char bytes[1024];
  };
  tp::pool<kilobyte> pool({.name = "limited", .limit = 256 * 1024});
  std::vector<kilobyte*> items;
  while (kilobyte* object = pool.try_construct()) {
    items.push_back(object);
    ASSERT_LE(items.size(), 256u) << "the limit does not hold";
  }
  EXPECT_GE(items.size(), 128u) << "the limit comes too early";
  EXPECT_LE(pool.get_usage().held_bytes, 256u * 1024);
  EXPECT_THROW(static_cast<void>(pool.construct()), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(pool.rent()), std::bad_alloc);
  EXPECT_FALSE(pool.try_rent());
  pool.destroy(items.back());
  items.pop_back();
  EXPECT_TRUE(pool.try_rent()) << "what came back can be rented again";
  for (kilobyte* object : items) pool.destroy(object);
}

TEST(Pool, AlignsItsObjects) {
  struct alignas(64) line {
    char bytes[64];
  };
  struct alignas(4096) page {
    char bytes[4096];
  };
  tp::pool<line> lines;
  tp::pool<page> pages;
  std::vector<tp::lease<line>> held_lines;
  std::vector<tp::lease<page>> held_pages;
  for (int i = 0; i < 100; ++i) {
    held_lines.push_back(lines.rent());
    EXPECT_TRUE(is_aligned(held_lines.back().get(), 64));
    held_pages.push_back(pages.rent());
    EXPECT_TRUE(is_aligned(held_pages.back().get(), 4096));
  }
  EXPECT_EQ(pages.block_size(), 4096u);
}

TEST(Pool, WastesNothingOnSizeClasses) {
  struct odd {
    char bytes[1040];  // the size classes would give 1152
  };
  tp::pool<odd> pool;
  EXPECT_EQ(pool.block_size(), 1040u);
}

TEST(Pool, MovesWithItsObjects) {
  tp::pool<counted> source({.name = "moves"});
  auto lease = source.rent(3);
  tp::pool<counted> target(std::move(source));
  EXPECT_FALSE(source);  // NOLINT: what a moved-from pool promises
  EXPECT_TRUE(target);
  EXPECT_GT(target.get_usage().live_bytes, 0u);
  lease.return_now();
  EXPECT_EQ(target.get_usage().live_bytes, 0u);
  tp::pool<counted> other;
  other = std::move(target);
  EXPECT_EQ(other.rent(9)->value, 9);
}

TEST(Pool, DeleterServesTheSmartPointers) {
  tp::pool<counted> pool;
  {
    tp::pool<counted>::unique_ptr unique = pool.make_unique(8);
    EXPECT_EQ(unique->value, 8);
    std::shared_ptr<counted> shared(pool.construct(9), tp::pool<counted>::deleter(pool));
    EXPECT_EQ(counted::live, 2);
  }
  EXPECT_EQ(counted::live, 0);
  EXPECT_EQ(pool.get_usage().live_bytes, 0u);
}

TEST(Pool, MemoryGoesWithThePool) {
  std::size_t held = 0;
  {
    tp::pool<item> pool;
    for (int i = 0; i < 1000; ++i) static_cast<void>(pool.construct());
    held = pool.get_usage().held_bytes;
  }
  EXPECT_GE(held, 1000 * sizeof(item));
}

// More pools than have thread caches: the others work too, through a lock.
TEST(Pool, HundredsWorkAtOneTime) {
  std::vector<std::unique_ptr<tp::pool<item>>> pools;
  std::vector<item*> items;
  for (std::uint64_t i = 0; i < 200; ++i) {
    pools.push_back(std::make_unique<tp::pool<item>>());
    for (std::uint64_t n = 0; n < 20; ++n) items.push_back(pools.back()->construct(item{i, n, i ^ n}));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(items[i]->owner, i / 20);
    ASSERT_EQ(items[i]->check, items[i]->owner ^ items[i]->sequence);
    pools[i / 20]->destroy(items[i]);
  }
  for (auto& pool : pools) EXPECT_EQ(pool->get_usage().live_bytes, 0u);
}

// Objects are constructed by some threads and destroyed by others; each keeps its contents until it ends.
TEST(Pool, ObjectsAreDestroyedByOtherThreads) {
  tp::pool<item> pool;
  std::mutex mutex;
  std::vector<item*> mailbox;
  std::atomic<int> makers_left{2};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> destroyed{0};
  constexpr std::uint64_t each = 50000;
  auto maker = [&](std::uint64_t owner) {
    for (std::uint64_t i = 0; i < each; ++i) {
      item* made = pool.construct(item{owner, i, owner * 31 + i});
      std::lock_guard lock(mutex);
      mailbox.push_back(made);
    }
    --makers_left;
  };
  auto ender = [&] {
    for (;;) {
      bool last = makers_left == 0;
      std::vector<item*> batch;
      {
        std::lock_guard lock(mutex);
        batch.swap(mailbox);
      }
      for (item* due : batch) {
        if (due->check != due->owner * 31 + due->sequence) ++wrong;
        pool.destroy(due);
        ++destroyed;
      }
      if (last && batch.empty()) return;
      if (batch.empty()) std::this_thread::yield();
    }
  };
  std::vector<std::thread> threads;
  threads.emplace_back(maker, 1);
  threads.emplace_back(maker, 2);
  threads.emplace_back(ender);
  threads.emplace_back(ender);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(destroyed, 2 * each);
  EXPECT_EQ(pool.get_usage().live_bytes, 0u);
}

// A shared pointer calls its deleter for null as well.
TEST(Pool, DeleterTakesNull) {
  tp::pool<counted> pool;
  int before = counted::live;
  {
    std::shared_ptr<counted> nothing(static_cast<counted*>(nullptr), tp::pool<counted>::deleter(pool));
    EXPECT_EQ(nothing.use_count(), 1);
  }
  EXPECT_EQ(counted::live, before);
  EXPECT_EQ(pool.get_usage().live_bytes, 0u);
}

}  // namespace
