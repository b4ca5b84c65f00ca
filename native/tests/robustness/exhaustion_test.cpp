// The Nth call of the operating system fails, for N = 1, 2, 3 ... until everything succeeds: each operation either works
// or reports ENOMEM, nothing is lost, nothing is broken, and with memory back everything works again.
#include <errno.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "heap/heap.h"
#include "heap/thread_heap.h"
#include "os/os.h"
#include "support/memory.h"
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

// Into what was never used, which has to be committed step by step, or to another place.
bool a_block_that_grows() {
  constexpr size_t step = size_t{16} << 20;
  bool all = true;
  size_t size = 65536;
  auto* block = static_cast<unsigned char*>(tp_malloc(size));
  if (block == nullptr) return false;
  for (size_t wanted = step; wanted <= 20 * step; wanted += step) {
    memset(block + size - 64, 9, 64);
    errno = 0;
    auto* grown = static_cast<unsigned char*>(tp_realloc(block, wanted));
    if (grown == nullptr) {
      EXPECT_EQ(ENOMEM, errno);
      all = false;
    } else {
      EXPECT_EQ(9, grown[size - 1]);
      EXPECT_EQ(9, grown[size - 64]);
      block = grown;
      size = wanted;
    }
  }
  tp_free(block);
  return all;
}

TEST(Exhaustion, EveryCallFailsOnceWhileABlockGrows) {
  IN_A_PROCESS_OF_ITS_OWN(fail_each_call(a_block_that_grows, 500));
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

// What no arena can hold fails without taking address space: the small ones that come after it need that.
TEST(Exhaustion, OfOneHugeRequestLeavesTheArenasToOthers) {
  IN_A_PROCESS_OF_ITS_OWN({
    void* first = tp_malloc(100000);
    size_t reserved = test::statistics().reserved_bytes;
    for (unsigned bit = 40; bit < 63; ++bit) {
      volatile size_t huge = size_t{1} << bit;
      errno = 0;
      ASSERT_EQ(nullptr, tp_malloc(huge)) << "2^" << bit;
      EXPECT_EQ(ENOMEM, errno);
      ASSERT_EQ(nullptr, tp_aligned_alloc(1 << 30, huge));
      ASSERT_EQ(nullptr, tp_calloc(huge / 8, 8));
    }
    EXPECT_EQ(reserved, test::statistics().reserved_bytes);
    for (size_t size : {100, 100000, 100 << 20}) {
      void* block = tp_malloc(size);
      EXPECT_NE(nullptr, block) << size;
      tp_free(block);
    }
    tp_free(first);
  });
}

// No more address space than a few MiB beyond what the program itself has.
TEST(Exhaustion, OfAddressSpaceLeavesRoomToStart) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow memory takes more address space than that";
#endif
  if (getenv("TIDEPOOL_UNDER_QEMU") != nullptr) GTEST_SKIP() << "the limit would be that of the emulator";
  for (size_t megabytes : {12, 24, 48, 100, 500}) {
    IN_A_PROCESS_OF_ITS_OWN({
      rlimit limit{};
      limit.rlim_cur = limit.rlim_max = test::mapped_bytes() + (megabytes << 20);
      ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
      void* blocks[] = {tp_malloc(10), tp_zalloc(5000), tp_malloc(100000)};
      for (void* block : blocks) EXPECT_NE(nullptr, block) << megabytes << " MiB";
      tp_free_batch(blocks, 3);
      EXPECT_EQ(nullptr, tp_malloc(megabytes << 20)) << "more than there is";
      // Half of it can be used, in more than one arena.
      std::vector<void*> all;
      while (void* block = tp_malloc(50000)) all.push_back(block);
      EXPECT_GE(all.size() * 65536, megabytes << 19);
      tp_free_batch(all.data(), all.size());
      EXPECT_TRUE(tp_is_valid());
    });
  }
}

// Memory that a purge is giving back at this moment is neither used nor in the way.
TEST(Limit, WhileAnotherThreadPurgesNothingIsRefusedThatFits) {
  IN_A_QUIET_PROCESS({
    ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, 64 << 20));
    std::atomic<bool> stop{false};
    std::thread purger([&] {
      while (!stop.load(std::memory_order_relaxed)) tp_purge(0);
    });
    test::Random random(5);
    for (int round = 0; round < 25; ++round) {
      // Of two lengths, so that the one needs what the other left.
      for (size_t size : {34 << 20, 40 << 20}) {
        void* block = tp_malloc(size);
        EXPECT_NE(nullptr, block) << "round " << round << ", " << size;
        if (block == nullptr) break;
        EXPECT_LE(test::statistics().committed_bytes, 64u << 20) << "nor is there more than the limit at any time";
        memset(block, 1, 24 << 20);
        tp_free(block);
        for (uint64_t spins = random.below(1000000); spins != 0; --spins) asm volatile("");
      }
    }
    stop.store(true);
    purger.join();
  });
}

// A large block that a thread freed is kept for its next request, and counts.
void keep_a_large_block() {
  void* block = tp_malloc(20 << 20);
  ASSERT_NE(nullptr, block);
  tp_free(block);
  ASSERT_GE(test::statistics().committed_bytes, 20u << 20);
}

TEST(Limit, MakesRoomForHeapsAndPoolsOfWhatIsIdle) {
  IN_A_QUIET_PROCESS({
    ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, 32 << 20));
    keep_a_large_block();
    tp_heap* heap = tp_heap_create(nullptr);
    void* block = tp_heap_malloc(heap, 20 << 20);
    EXPECT_NE(nullptr, block);
    tp_heap_free(heap, block);
    for (size_t size : {100, 5000, 100000}) {
      std::vector<void*> blocks;
      while (void* one = tp_heap_malloc(heap, size)) blocks.push_back(one);
      EXPECT_GE(blocks.size() * size, 20u << 20) << size;
      EXPECT_EQ(nullptr, tp_heap_zalloc(heap, 20 << 20));
      for (void* one : blocks) tp_heap_free(heap, one);
      keep_a_large_block();
      EXPECT_NE(nullptr, block = tp_heap_aligned_alloc(heap, 1 << 20, 15 << 20));
      tp_heap_free(heap, block);
      keep_a_large_block();
    }
    tp_heap_destroy(heap);
    for (size_t size : {100, 5000, 100000, 1 << 20}) {
      keep_a_large_block();
      tp_pool_options options{sizeof(options), nullptr, size, 0, 0, false};
      tp_pool* pool = tp_pool_create(&options);
      ASSERT_NE(nullptr, pool);
      size_t count = 0;
      while (tp_pool_rent(pool) != nullptr) ++count;
      EXPECT_GE(count * size, 20u << 20) << size;
      tp_pool_destroy(pool);
    }
    EXPECT_EQ(0u, test::statistics().live_bytes);
  });
}

// The structures of threads, heaps and pools need memory too.
TEST(Limit, MakesRoomForNewHeapsOfWhatIsIdle) {
  IN_A_QUIET_PROCESS({
    tp_free(tp_malloc(20 << 20));
    ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, static_cast<int64_t>(test::statistics().committed_bytes)));
    for (int i = 0; i < 20; ++i) ASSERT_NE(nullptr, tp_heap_create(nullptr)) << i;
    tp_pool_options options{sizeof(options), nullptr, 100, 0, 0, true};
    for (int i = 0; i < 20; ++i) ASSERT_NE(nullptr, tp_pool_create(&options)) << i;
  });
}

// Pages of a pool that another thread's heap owns, and whose blocks have all come back from elsewhere.
TEST(Limit, OfAPoolMakesRoomOfPagesThatCameBackToOtherThreads) {
  tp_pool_options options{sizeof(options), "limited", 1000, 0, 1 << 20, false};
  tp_pool* pool = tp_pool_create(&options);
  ASSERT_NE(nullptr, pool);
  std::vector<void*> blocks;
  std::atomic<int> step{0};
  std::thread owner([&] {
    while (void* block = tp_pool_rent(pool)) blocks.push_back(block);
    step.store(1);
    while (step.load() != 2) std::this_thread::yield();
  });
  while (step.load() != 1) std::this_thread::yield();
  size_t count = blocks.size();
  EXPECT_GE(count, 900u);
  tp_pool_return_batch(pool, blocks.data(), count);
  blocks.clear();
  while (void* block = tp_pool_rent(pool)) blocks.push_back(block);
  EXPECT_GE(blocks.size(), count * 8 / 10);
  size_t held = 0;
  tp_pool_usage(pool, nullptr, &held);
  EXPECT_LE(held, 1u << 20);
  step.store(2);
  owner.join();
  tp_pool_return_batch(pool, blocks.data(), blocks.size());
  tp_pool_destroy(pool);
}

// What is missing is kept by a heap whose lock another thread has.
// The system refuses to take locked memory back. What is not locked goes nevertheless, and nothing fails for it.
TEST(LockedMemory, KeepsNoOtherFromGoingBack) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> apart;
    void* locked = tp_malloc(40000);
    apart.push_back(tp_malloc(100000));
    if (mlock(locked, 40000) == 0) {
      std::vector<void*> large;
      for (int i = 0; i < 8; ++i) {
        large.push_back(tp_malloc(40 << 20));
        memset(large.back(), 1, 40 << 20);
        apart.push_back(tp_malloc(100000));
      }
      tp_free(locked);
      for (void* block : large) tp_free(block);
      EXPECT_GE(tp_purge(0), size_t{300} << 20);
      EXPECT_LE(test::statistics().retained_bytes, size_t{1} << 20);
      EXPECT_TRUE(tp_is_valid());
    }
  });
}

TEST(LockedMemory, ServesNewThreadsAndHeaps) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks;
    for (int i = 0; i < 40; ++i) blocks.push_back(tp_malloc(200'000));
    bool locked = true;
    for (void* block : blocks) {
      locked = mlock(block, 200'000) == 0 && locked;
      memset(block, 0xff, 200'000);
    }
    for (void* block : blocks) tp_free(block);
    if (locked) {
      for (int i = 0; i < 8; ++i) {
        std::thread([] {
          void* block = tp_malloc(100);
          EXPECT_NE(nullptr, block);
          tp_free(block);
        }).join();
      }
      tp_heap* heap = tp_heap_create(nullptr);
      EXPECT_NE(nullptr, heap);
      tp_heap_destroy(heap);
    }
  });
}

TEST(Limit, WaitsForHeapsThatAreBusy) {
  IN_A_QUIET_PROCESS({
    ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, 32 << 20));
    std::atomic<int> step{0};
    std::thread thread([&] {
      keep_a_large_block();
      tp::Heap* heap = tp::current_heap();
      {
        tp::Locked locked(heap->lock);
        step.store(1);
        usleep(30000);
      }
      while (step.load() != 2) std::this_thread::yield();
    });
    while (step.load() != 1) std::this_thread::yield();
    void* block = tp_malloc(20 << 20);
    EXPECT_NE(nullptr, block);
    tp_free(block);
    step.store(2);
    thread.join();
  });
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
    const char* all = getenv("TIDEPOOL_ALL");
    const int rounds = all != nullptr && *all == '1' ? 20 : 6;
    ASSERT_EQ(0, tp_set_option(tp_option_memory_limit, limit));
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([t, rounds] {
        for (int round = 0; round < rounds; ++round) {
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
