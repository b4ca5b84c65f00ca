// Threads that end with live blocks, that come by the thousand, and that allocate while they end.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <thread>
#include <vector>

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
