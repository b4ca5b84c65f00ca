// The depot: what a thread freed beyond its magazines and rents again, and that it goes back.
#include "heap/depot.h"

#include <gtest/gtest.h>
#include <string.h>

#include <set>
#include <thread>
#include <vector>

#include "heap/heap.h"
#include "heap/thread_heap.h"
#include "support/process.h"
#include "support/statistics.h"

namespace {

using namespace tp;

std::vector<void*> rent_all(size_t count, size_t size) {
  std::vector<void*> blocks(count);
  for (void*& block : blocks) {
    block = tp_malloc(size);
    memset(block, 7, size);
  }
  return blocks;
}

void return_all(std::vector<void*>& blocks) {
  for (void* block : blocks) tp_free(block);
}

TEST(Depot, KeepsWhatAThreadFreesAndGivesItOutOnceEach) {
  IN_A_QUIET_PROCESS({
    std::thread([] {
      for (size_t size : {16, 64, 256, 1000, 8192, 32768}) {
        size_t count = (size_t{1} << 20) / size;
        std::vector<void*> blocks = rent_all(count, size);
        size_t live = test::statistics().live_bytes;
        return_all(blocks);
        const Depot& depot = known_heap()->depot;
        EXPECT_GE(depot.bytes, size_t{1} << 19) << size;
        EXPECT_LE(test::statistics().live_bytes + count * size, live) << "blocks of the depot are not live";
        EXPECT_TRUE(tp_is_valid());
        std::vector<void*> again = rent_all(count, size);
        EXPECT_EQ(count, std::set<void*>(again.begin(), again.end()).size()) << "no block is out twice";
        EXPECT_EQ(0u, depot.bytes) << size;
        return_all(again);
        tp_thread_idle();
        EXPECT_TRUE(depot.empty());
      }
    }).join();
  });
}

TEST(Depot, IsBounded) {
  IN_A_QUIET_PROCESS({
    std::thread([] {
      std::vector<void*> blocks = rent_all(200'000, 64);
      return_all(blocks);
      EXPECT_LE(known_heap()->depot.bytes, 4u << 20);
      EXPECT_GT(known_heap()->depot.bytes, 3u << 20);
      EXPECT_TRUE(tp_is_valid());
    }).join();
  });
}

TEST(Depot, OfAllThreadsTogetherAreBounded) {
  IN_A_QUIET_PROCESS({
    constexpr size_t threads = 24;
    std::atomic<size_t> held{0}, arrived{0};
    std::vector<std::thread> running;
    for (size_t t = 0; t < threads; ++t) {
      running.emplace_back([&] {
        std::vector<void*> blocks = rent_all(3000, 1024);
        return_all(blocks);
        held += known_heap()->depot.bytes;
        ++arrived;
        while (arrived < threads) std::this_thread::yield();
      });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_LE(held.load(), 32u << 20);
    EXPECT_GT(held.load(), 24u << 20);
    // What was granted came back with the threads: the next one has all the room again.
    std::thread([] {
      std::vector<void*> blocks = rent_all(3000, 1024);
      return_all(blocks);
      EXPECT_GT(known_heap()->depot.bytes, 2u << 20);
    }).join();
  });
}

TEST(Depot, TakesNoBlocksOfOtherThreads) {
  std::vector<void*> blocks = rent_all(10'000, 96);
  std::thread([&] {
    return_all(blocks);
    EXPECT_EQ(0u, known_heap()->depot.bytes);
  }).join();
}

TEST(Depot, IsEmptiedByAPurge) {
  IN_A_QUIET_PROCESS({
    std::thread owner([] {
      std::vector<void*> blocks = rent_all(16'384, 128);
      return_all(blocks);
      const Depot& depot = known_heap()->depot;
      ASSERT_FALSE(depot.empty());
      // By another thread, as the background purge does.
      std::thread([] { tp_purge(0); }).join();
      EXPECT_TRUE(depot.empty());
      EXPECT_EQ(0u, depot.granted);
      EXPECT_TRUE(tp_is_valid());
    });
    owner.join();
  });
}

TEST(Depot, GivesWayWhenMemoryIsShort) {
  IN_A_QUIET_PROCESS({
    std::thread([] {
      tp_purge(0);
      std::vector<void*> blocks = rent_all(16'384, 128);
      return_all(blocks);
      ASSERT_GT(known_heap()->depot.bytes, 1u << 20);
      auto used = static_cast<int64_t>(test::statistics().committed_bytes);
      ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, used));
      // There is no room for this beside what the depot holds.
      void* block = tp_malloc(1 << 20);
      EXPECT_NE(nullptr, block);
      EXPECT_TRUE(known_heap()->depot.empty());
      tp_free(block);
      ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, 0));
    }).join();
  });
}

}  // namespace
