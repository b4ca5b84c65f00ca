// Threads that end with live blocks, that come by the thousand, and that allocate while they end.
#include <gtest/gtest.h>
#include <limits.h>
#include <pthread.h>

#include <atomic>
#include <thread>
#include <vector>

#include "heap/heap.h"
#include "heap/magazines.h"
#include "heap/thread_heap.h"
#include "support/memory.h"
#include "support/pattern.h"
#include "support/process.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

TEST(ThreadExit, LiveBlocksAreFreedByOthers) {
  size_t live = test::statistics().live_bytes;
  for (size_t size : {24, 500, 8000, 30000, 200000}) {
    std::vector<void*> blocks(size > 100000 ? 20 : 2000);
    std::thread([&] {
      for (void*& block : blocks) {
        block = tp_malloc(size);
        test::fill(block, size, 1);
      }
    }).join();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t; i < blocks.size(); i += 3) {
          ASSERT_TRUE(test::is_filled(blocks[i], size, 1));
          tp_free(blocks[i]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(live, test::statistics().live_bytes);
}

TEST(ThreadExit, FreesRaceWithTheEndOfTheOwner) {
  for (int round = 0; round < 200; ++round) {
    std::vector<void*> blocks(300);
    std::atomic<bool> ready{false};
    std::thread owner([&] {
      for (void*& block : blocks) block = tp_malloc(100);
      ready.store(true, std::memory_order_release);
    });
    std::thread freer([&] {
      while (!ready.load(std::memory_order_acquire)) std::this_thread::yield();
      tp_free_batch(blocks.data(), blocks.size());
    });
    owner.join();
    freer.join();
  }
  EXPECT_TRUE(tp_is_valid());
}

TEST(ThreadChurn, ThousandsOfThreadsStayInBoundedMemory) {
  IN_A_PROCESS_OF_ITS_OWN({
    auto one = [] {
      std::thread([] {
        void* blocks[50];
        for (size_t i = 0; i < 50; ++i) {
          blocks[i] = tp_malloc(i * 100 + 1);
          test::fill(blocks[i], i * 100 + 1, i);
        }
        for (size_t i = 0; i < 50; ++i) {
          EXPECT_TRUE(test::is_filled(blocks[i], i * 100 + 1, i));
          tp_free(blocks[i]);
        }
      }).join();
    };
    for (int i = 0; i < 100; ++i) one();
    size_t resident = test::resident_bytes();
    tp_statistics before = test::statistics();
    for (int i = 0; i < 4000; ++i) one();
    tp_statistics after = test::statistics();
    if (test::resident_is_ours()) {
      EXPECT_LE(test::resident_bytes(), resident + (2u << 20));
    }
    EXPECT_LE(after.metadata_bytes, before.metadata_bytes + (64u << 10)) << "heaps of ended threads are used again";
    EXPECT_LE(after.committed_bytes, before.committed_bytes + (1u << 20));
    EXPECT_EQ(0u, after.live_bytes);
  });
}

// Every thread leaves blocks that the next one frees: pages of ended threads must come back into use.
TEST(ThreadChurn, BlocksHandedOnFromThreadToThreadStayInBoundedMemory) {
  IN_A_PROCESS_OF_ITS_OWN({
    std::vector<void*> handed;
    size_t peak = 0;
    for (int i = 0; i < 2000; ++i) {
      std::thread([&] {
        for (void* block : handed) {
          EXPECT_TRUE(test::is_filled(block, 700, 4));
          tp_free(block);
        }
        handed.assign(100, nullptr);
        for (void*& block : handed) {
          block = tp_malloc(700);
          test::fill(block, 700, 4);
        }
      }).join();
      if (i == 200) peak = test::statistics().committed_bytes;
    }
    EXPECT_LE(test::statistics().committed_bytes, peak + (2u << 20));
    tp_free_batch(handed.data(), handed.size());
  });
}

pthread_key_t early, late;
std::atomic<int> destroyed{0};

// Runs as often as pthreads allows: allocates, frees what it had, and arms itself again.
void use_while_ending(void* value) {
  pthread_key_t key = *static_cast<pthread_key_t*>(value);
  EXPECT_TRUE(test::is_filled(static_cast<char*>(value) + 64, 400, 8)) << "the block outlives the thread's heap";
  tp_free(value);
  for (size_t size : {16, 300, 5000, 70000}) {
    void* block = tp_malloc(size);
    ASSERT_NE(nullptr, block);
    test::fill(block, size, 1);
    block = tp_realloc(block, size * 2);
    ASSERT_NE(nullptr, block);
    tp_free(block);
  }
  if (destroyed.fetch_add(1) % 3 != 2) {
    void* next = tp_malloc(464);
    memcpy(next, &key, sizeof(key));
    test::fill(static_cast<char*>(next) + 64, 400, 8);
    pthread_setspecific(key, next);
  }
}

void arm(pthread_key_t key) {
  void* block = tp_malloc(464);
  memcpy(block, &key, sizeof(key));
  test::fill(static_cast<char*>(block) + 64, 400, 8);
  pthread_setspecific(key, block);
}

// One key is older than the library's own, one younger: destructors run in either order.
TEST(ThreadExit, DestructorsOfKeysAllocateAndFree) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(0, pthread_key_create(&early, use_while_ending));
    tp_free(tp_malloc(1));
    ASSERT_EQ(0, pthread_key_create(&late, use_while_ending));
    for (int i = 0; i < 300; ++i) {
      destroyed.store(0);
      std::thread([] {
        arm(early);
        arm(late);
      }).join();
      EXPECT_GE(destroyed.load(), 2);
    }
    tp_purge(0);
    EXPECT_TRUE(tp_is_valid());
    EXPECT_EQ(0u, test::statistics().live_bytes);
    EXPECT_LE(test::statistics().metadata_bytes, 1u << 20);
  });
}

TEST(ThreadExit, BlocksAllocatedWhileEndingAreFreedByOthers) {
  IN_A_PROCESS_OF_ITS_OWN({
    static std::vector<void*> left;
    ASSERT_EQ(0, pthread_key_create(&early, [](void* value) {
                void* block = tp_malloc(200);
                test::fill(block, 200, 3);
                left.push_back(block);
                // Another round, in which the heap has surely been given up.
                if (left.size() % 2 != 0) pthread_setspecific(early, value);
              }));
    for (int i = 0; i < 100; ++i) {
      std::thread([] {
        tp_free(tp_malloc(1));
        pthread_setspecific(early, &left);
      }).join();
    }
    EXPECT_EQ(200u, left.size());
    for (void* block : left) {
      EXPECT_TRUE(test::is_filled(block, 200, 3));
      tp_free(block);
    }
    EXPECT_EQ(0u, test::statistics().live_bytes);
  });
}

void spin(uint64_t turns) {
  while (turns-- != 0) asm volatile("");
}

// A thread's magazines may hold blocks of a pool that is destroyed while the thread ends; the pages of that pool serve
// others at once.
TEST(ThreadExit, RacesWithTheEndOfAPoolThatTheThreadUsed) {
  test::Random random(99);
  for (int round = 0; round < 400; ++round) {
    tp_pool_options options{sizeof(options), "short", 48 + 16 * random.below(20), 0, 0, false};
    tp_pool* pool = tp_pool_create(&options);
    ASSERT_NE(nullptr, pool);
    std::atomic<tp::Heap*> heap{nullptr};
    std::thread user([&] {
      void* blocks[60];
      ASSERT_EQ(60u, tp_pool_rent_batch(pool, 60, blocks));
      tp_pool_return_batch(pool, blocks, 60);
      tp_free(tp_malloc(tp::max_class_size));
      heap.store(tp::current_heap(), std::memory_order_release);
    });
    while (heap.load(std::memory_order_acquire) == nullptr) std::this_thread::yield();
    if (round % 4 == 0) {
      spin(random.below(20000));
    } else {
      // The magazine before the pool's has just been emptied: with luck the thread now waits at the pool's.
      while (tp::cached_blocks(heap, tp::class_count) != 0) {
      }
      tp::Locked locked(heap.load()->lock);
      spin(3000);
    }
    tp_pool_destroy(pool);
    void* blocks[50];
    for (size_t i = 0; i < 50; ++i) test::fill(blocks[i] = tp_malloc(300), 300, i);
    user.join();
    for (size_t i = 0; i < 50; ++i) {
      EXPECT_TRUE(test::is_filled(blocks[i], 300, i));
      tp_free(blocks[i]);
    }
    if (round % 30 == 0) {
      ASSERT_TRUE(tp_is_valid()) << "round " << round;
    }
  }
}

TEST(ThreadHeap, InheritsNothingOfADestroyedHeap) {
  IN_A_PROCESS_OF_ITS_OWN({
    tp_free(tp_malloc(1));
    tp_heap_options options{sizeof(options), "small", 1 << 17, true};
    std::vector<tp_heap*> heaps;
    for (int i = 0; i < 8; ++i) {
      heaps.push_back(tp_heap_create(&options));
      tp_free(tp_heap_malloc(heaps.back(), 5000));
    }
    for (tp_heap* heap : heaps) tp_heap_destroy(heap);
    std::thread([] {
      std::vector<void*> blocks;
      for (size_t size : {100, 5000, 200000}) {
        for (size_t bytes = 0; bytes < (4u << 20); bytes += size) {
          blocks.push_back(tp_malloc(size));
          ASSERT_NE(nullptr, blocks.back()) << "the destroyed heap's limit was 128 KiB";
        }
      }
      tp_free_batch(blocks.data(), blocks.size());
    }).join();
    // Neither does another heap.
    tp_heap* heap = tp_heap_create(nullptr);
    EXPECT_NE(nullptr, tp_heap_malloc(heap, 1 << 20));
    tp_heap_destroy(heap);
  });
}

pthread_key_t last_key;

// Frees in the last round of destructors, after which the library is not told of the end of the thread.
void free_in_the_last_round(void* value) {
  auto* blocks = static_cast<void**>(value);
  auto round = reinterpret_cast<uintptr_t>(blocks[0]) + 1;
  blocks[0] = reinterpret_cast<void*>(round);
  if (round < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(last_key, value);
    return;
  }
  for (int i = 1; i <= 10; ++i) tp_free(blocks[i]);
}

TEST(ThreadChurn, ThreadsThatOnlyFreeAtTheirVeryEndLeaveNoHeapBehind) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer's own state ends in that round";
#endif
  IN_A_PROCESS_OF_ITS_OWN({
    tp_free(tp_malloc(1));
    ASSERT_EQ(0, pthread_key_create(&last_key, free_in_the_last_round));  // behind the library's own in every round
    size_t threads_before = test::statistics().threads;
    size_t metadata_before = test::statistics().metadata_bytes;
    static void* blocks[11];
    for (int i = 0; i < 2000; ++i) {
      blocks[0] = nullptr;
      for (int b = 1; b <= 10; ++b) blocks[b] = tp_malloc(100);
      std::thread([] { pthread_setspecific(last_key, blocks); }).join();
      ASSERT_EQ(static_cast<uintptr_t>(PTHREAD_DESTRUCTOR_ITERATIONS), reinterpret_cast<uintptr_t>(blocks[0]));
    }
    EXPECT_EQ(threads_before, test::statistics().threads);
    EXPECT_LE(test::statistics().metadata_bytes, metadata_before + (256u << 10));
    EXPECT_EQ(0u, test::statistics().live_bytes);
  });
}

TEST(Signals, ManyThreadsStopAndGo) {
  std::vector<std::thread> threads;
  std::atomic<bool> stop{false};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        void* block = tp_malloc(3000);
        tp_free(block);
        tp_thread_idle();
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    tp_purge(0);
    EXPECT_TRUE(tp_is_valid());
    test::statistics();
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
