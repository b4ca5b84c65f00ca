// The Nth call of the operating system fails, for N = 1, 2, 3 ... until everything succeeds: each operation either works
// or reports ENOMEM, nothing is lost, nothing is broken, and with memory back everything works again.
#include <errno.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "os/os.h"
#include "support/pattern.h"
#include "support/process.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

// Runs the scenario in a fresh process for N = 1, 2, 3 ...; it returns false when something failed for lack of memory.
// The scenario frees what it has. At the end nothing is live, all invariants hold, and the scenario succeeds.
template <typename Scenario>
void fail_each_call(Scenario scenario, size_t most_calls) {
  size_t n = 1;
  for (;; ++n) {
    size_t calls_before = tp::os::call_count();
    tp::os::fail_after(n);
    bool done = scenario();
    bool all_calls_worked = tp::os::call_count() - calls_before < n;
    tp::os::fail_after(0);
    EXPECT_TRUE(tp_is_valid()) << "call " << n;
    EXPECT_EQ(0u, test::statistics().live_bytes) << "call " << n;
    if (all_calls_worked) {
      EXPECT_TRUE(done) << "no call failed, yet memory was refused";
      break;
    }
    tp_purge(0);
    ASSERT_TRUE(scenario()) << "after call " << n << " had failed once";
    tp_purge(0);
    ASSERT_LE(n, most_calls) << "the scenario never ends";
  }
  EXPECT_GT(n, 1u) << "the scenario makes no calls";
}

bool blocks_of_all_kinds() {
  bool all = true;
  std::vector<std::pair<void*, size_t>> blocks;
  for (size_t size : {16, 200, 3000, 30000, 50000, 1 << 20, 5 << 20}) {
    for (int i = 0; i < 20; ++i) {
      errno = 0;
      void* block = i % 3 == 0 ? tp_zalloc(size) : i % 3 == 1 ? tp_malloc(size) : tp_aligned_alloc(128, size);
      if (block == nullptr) {
        EXPECT_EQ(ENOMEM, errno);
        all = false;
        continue;
      }
      test::fill(block, size, 1);
      blocks.emplace_back(block, size);
    }
    tp_purge(0);
  }
  for (auto [block, size] : blocks) {
    EXPECT_TRUE(test::is_filled(block, size, 1));
    tp_free(block);
  }
  return all;
}

TEST(Exhaustion, EveryCallFailsOnceWhileBlocksAreAllocated) {
  IN_A_PROCESS_OF_ITS_OWN(fail_each_call(blocks_of_all_kinds, 2000));
}

TEST(Exhaustion, TheVeryFirstCallsOfAProcess) {
  for (size_t n = 1; n <= 12; ++n) {
    IN_A_PROCESS_OF_ITS_OWN({
      tp::os::fail_after(n);
      errno = 0;
      void* block = tp_malloc(100);
      if (block == nullptr) {
        EXPECT_EQ(ENOMEM, errno);
      }
      tp::os::fail_after(0);
      tp_free(block);
      block = tp_malloc(100);
      ASSERT_NE(nullptr, block) << "memory is back";
      test::fill(block, 100, 1);
      tp_free(block);
      EXPECT_TRUE(tp_is_valid());
    });
  }
}

TEST(Exhaustion, EveryCallFailsOnceInHeapsAndPools) {
  IN_A_PROCESS_OF_ITS_OWN(fail_each_call(
      [] {
        tp_heap* heap = tp_heap_create(nullptr);
        tp_pool_options options{sizeof(options), nullptr, 5000, 0, 0, false};
        tp_pool* pool = tp_pool_create(&options);
        options.block_size = 100000;
        tp_pool* large = tp_pool_create(&options);
        bool all = heap != nullptr && pool != nullptr && large != nullptr;
        for (int i = 0; i < 200; ++i) {
          void* block = nullptr;
          if (heap != nullptr && (block = tp_heap_malloc(heap, 10000)) != nullptr) memset(block, 1, 10000);
          all = all && block != nullptr;
          block = nullptr;
          if (pool != nullptr && (block = tp_pool_rent(pool)) != nullptr) memset(block, 2, 5000);
          all = all && block != nullptr;
          block = nullptr;
          if (large != nullptr && (block = tp_pool_rent(large)) != nullptr) memset(block, 3, 100000);
          all = all && block != nullptr;
        }
        tp_heap_destroy(heap);
        tp_pool_destroy(pool);
        tp_pool_destroy(large);
        tp_purge(0);
        return all;
      },
      2000));
}

TEST(Exhaustion, EveryCallFailsOnceInRealloc) {
  IN_A_PROCESS_OF_ITS_OWN(fail_each_call(
      [] {
        bool all = true;
        size_t size = 100;
        auto* block = static_cast<unsigned char*>(tp_malloc(size));
        if (block == nullptr) return false;
        for (size_t i = 0; i < size; ++i) block[i] = static_cast<unsigned char>(i);
        for (size_t next : {5000, 100000, 1 << 20, 9 << 20, 3 << 20, 70000, 10}) {
          auto* moved = static_cast<unsigned char*>(tp_realloc(block, next));
          if (moved == nullptr) {
            all = false;
          } else {
            block = moved;
            size = next < size ? next : size;
          }
          for (size_t i = 0; i < size; ++i) {
            if (block[i] != static_cast<unsigned char>(i)) ADD_FAILURE() << "byte " << i;
          }
          tp_purge(0);
        }
        tp_free(block);
        tp_purge(0);
        return all;
      },
      500));
}

TEST(Exhaustion, EveryCallFailsOnceInThreads) {
  IN_A_PROCESS_OF_ITS_OWN(fail_each_call(
      [] {
        bool all = true;
        void* from_thread = nullptr;
        std::thread([&] {
          void* block = tp_malloc(40);
          from_thread = tp_malloc(70000);
          all = block != nullptr && from_thread != nullptr;
          tp_free(block);
        }).join();
        tp_free(from_thread);
        tp_purge(0);
        return all;
      },
      500));
}

TEST(Limit, OfTheProcessIsKeptAndComesFree) {
  IN_A_PROCESS_OF_ITS_OWN({
    constexpr int64_t limit = 64 << 20;
    ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, limit));
    for (size_t size : {100, 5000, 100000, 3 << 20}) {
      std::vector<void*> blocks;
      errno = 0;
      while (void* block = tp_malloc(size)) {
        memset(block, 1, size < 64 ? size : 64);
        blocks.push_back(block);
        ASSERT_LT(blocks.size() * size, size_t{2} * limit);
      }
      EXPECT_EQ(ENOMEM, errno);
      EXPECT_LE(test::statistics().committed_bytes, static_cast<size_t>(limit));
      EXPECT_GE(blocks.size() * tp_good_size(size), static_cast<size_t>(limit) * 8 / 10) << size;
      EXPECT_EQ(nullptr, tp_zalloc(32 << 20));
      EXPECT_TRUE(tp_is_valid());
      for (void* block : blocks) tp_free(block);
    }
    EXPECT_EQ(0u, test::statistics().live_bytes);
    // A higher limit holds at once.
    ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, 0));
    void* block = tp_malloc(100 << 20);
    EXPECT_NE(nullptr, block);
    tp_free(block);
  });
}

TEST(Limit, HoldsForManyThreadsTogether) {
  IN_A_PROCESS_OF_ITS_OWN({
    static constexpr size_t limit = 32 << 20;
    ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, limit));
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([t] {
        for (int round = 0; round < 20; ++round) {
          std::vector<void*> blocks;
          for (size_t i = 0; i < 4000; ++i) {
            if (void* block = tp_malloc(i * 13 % 9000 + t)) blocks.push_back(block);
          }
          EXPECT_LE(test::statistics().committed_bytes, limit);
          for (void* block : blocks) tp_free(block);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(0u, test::statistics().live_bytes);
  });
}

}  // namespace
