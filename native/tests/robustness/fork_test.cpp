// fork from a program with threads: the child may use everything at once.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "heap/heap.h"
#include "heap/refill.h"
#include "heap/registry.h"
#include "support/memory.h"
#include "support/pattern.h"
#include "support/process.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

// In the child: gtest's own state is not used; the exit code says which check failed.
int use_everything(std::vector<void*>& parents) {
  for (void* block : parents) {
    if (!test::is_filled(block, 300, 1)) return 10;
    tp_free(block);
  }
  for (size_t size : {16, 64, 300, 5000, 40000, 500000}) {
    void* blocks[40];
    for (void*& block : blocks) {
      block = tp_malloc(size);
      if (block == nullptr) return 11;
      test::fill(block, size, 2);
    }
    for (void* block : blocks) {
      if (!test::is_filled(block, size, 2)) return 12;
      tp_free(block);
    }
  }
  tp_heap* heap = tp_heap_create(nullptr);
  if (heap == nullptr || tp_heap_malloc(heap, 100) == nullptr) return 13;
  tp_heap_destroy(heap);
  tp_purge(0);
  test::statistics();
  return tp_is_valid() ? 0 : 14;
}

// Tools that do not survive fork from a program with threads themselves.
const char* why_not_here() {
#if defined(__SANITIZE_THREAD__)
  return "ThreadSanitizer's own state does not survive fork with threads";
#else
  return getenv("TIDEPOOL_UNDER_QEMU") != nullptr ? "qemu's own state does not survive fork with threads" : nullptr;
#endif
}

int wait_for(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Forks so many times. Each child exits with the code that the body returns: 0 when all is well.
template <typename Body>
void fork_each_time(int times, Body in_child) {
  for (int i = 0; i < times; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);
      _exit(in_child());
    }
    ASSERT_EQ(0, wait_for(child)) << "fork " << i;
  }
}

// Allocates and frees all the time, across threads, while others fork.
class Traffic {
 public:
  // All threads run, and the one that purges does: a sanitizer's child could make no thread if one was being made at the fork.
  Traffic() : shared_(64) {
    tp_free(tp_malloc(16 << 20));
    for (unsigned t = 0; t < 3; ++t) threads_.emplace_back([this, t] { run(t); });
    while (running_.load() < threads_.size()) std::this_thread::yield();
  }

  ~Traffic() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
    for (auto& place : shared_) tp_free(place.load());
  }

 private:
  void run(unsigned number) {
    test::Random random(number + 1);
    ++running_;
    while (!stop_.load(std::memory_order_relaxed)) {
      void* block = tp_malloc(random.below(size_t{1} << random.below(17)));
      tp_free(shared_[random.below(shared_.size())].exchange(block));
      if (random.one_in(100)) tp_thread_idle();
      if (random.one_in(500)) tp_purge(0);
    }
  }

  std::vector<std::atomic<void*>> shared_;
  std::vector<std::thread> threads_;
  std::atomic<size_t> running_{0};
  std::atomic<bool> stop_{false};
};

std::vector<void*> some_blocks() {
  std::vector<void*> blocks(100);
  for (void*& block : blocks) {
    block = tp_malloc(300);
    test::fill(block, 300, 1);
  }
  return blocks;
}

TEST(Fork, FromAThreadedProgramTheChildUsesEverything) {
  if (const char* reason = why_not_here()) GTEST_SKIP() << reason;
  std::vector<void*> parents = some_blocks();
  {
    Traffic traffic;
    fork_each_time(60, [&] { return use_everything(parents); });
  }
  for (void* block : parents) {
    EXPECT_TRUE(test::is_filled(block, 300, 1)) << "the parent's blocks are its own";
    tp_free(block);
  }
}

TEST(Fork, TheChildForksAgain) {
  if (const char* reason = why_not_here()) GTEST_SKIP() << reason;
  std::vector<void*> parents = some_blocks();
  {
    Traffic traffic;
    fork_each_time(15, [&] {
      pid_t grandchild = fork();
      if (grandchild == 0) _exit(use_everything(parents));
      int below = grandchild > 0 ? wait_for(grandchild) : 20;
      return below != 0 ? below : use_everything(parents);
    });
  }
  tp_free_batch(parents.data(), parents.size());
}

TEST(Fork, TheChildStartsThreads) {
  if (const char* reason = why_not_here()) GTEST_SKIP() << reason;
  std::vector<void*> parents = some_blocks();
  {
    Traffic traffic;
    fork_each_time(15, [] {
      int result = 1;
      std::vector<void*> none;
      std::thread([&] { result = use_everything(none); }).join();
      return result;
    });
  }
  tp_free_batch(parents.data(), parents.size());
}

// While another thread is inside of tp_pool_create and tp_pool_destroy, which have a lock of their own.
TEST(Fork, WhilePoolsAreMadeTheChildMakesPools) {
  if (const char* reason = why_not_here()) GTEST_SKIP() << reason;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      while (!stop.load(std::memory_order_relaxed)) {
        tp_pool_options options{sizeof(options), nullptr, 40 + 30000 * t, 0, 0, false};
        tp_pool* pool = tp_pool_create(&options);
        tp_pool_return(pool, tp_pool_rent(pool));
        tp_pool_destroy(pool);
      }
    });
  }
  fork_each_time(50, [] {
    tp_pool_options options{sizeof(options), nullptr, 100, 0, 0, false};
    tp_pool* pool = tp_pool_create(&options);
    if (pool == nullptr) return 10;
    void* block = tp_pool_rent(pool);
    if (block == nullptr) return 11;
    test::fill(block, 100, 1);
    tp_pool_return(pool, block);
    tp_pool_destroy(pool);
    if (test::statistics().pools > 2) return 12;
    return tp_is_valid() ? 0 : 13;
  });
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

// Nothing has used the library when the threads and the fork begin.
TEST(Fork, WhileOthersAreInTheirVeryFirstCall) {
  if (const char* reason = why_not_here()) GTEST_SKIP() << reason;
  test::Random random(31);
  for (int round = 0; round < 20; ++round) {
    uint64_t spins = random.below(150000);
    IN_A_PROCESS_OF_ITS_OWN({
      std::atomic<unsigned> started{0};
      std::vector<std::thread> threads;
      for (unsigned t = 0; t < 3; ++t) {
        threads.emplace_back([&started, t] {
          started.fetch_add(1);
          while (started.load() != 4) {
          }
          for (int i = 0; i < 200; ++i) {
            tp_pool_options options{sizeof(options), nullptr, 100, 0, 0, false};
            tp_pool* pool = t == 0 ? tp_pool_create(&options) : nullptr;
            tp_free(tp_malloc(100 * t));
            tp_pool_destroy(pool);
          }
        });
      }
      while (started.load() != 3) {
      }
      started.store(4);
      while (spins-- != 0) asm volatile("");
      std::vector<void*> none;
      fork_each_time(1, [&] { return use_everything(none); });
      for (std::thread& thread : threads) thread.join();
    });
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

// What a purge is giving back while the fork happens is the child's too.
TEST(Fork, WhileAnotherThreadPurgesTheChildLosesNoIdleMemory) {
  if (const char* reason = why_not_here()) GTEST_SKIP() << reason;
  IN_A_QUIET_PROCESS({
    std::atomic<bool> stop{false};
    std::thread purger([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        void* block = tp_malloc(40 << 20);
        memset(block, 1, 8 << 20);
        tp_free(block);
        tp_purge(0);
      }
    });
    fork_each_time(60, [] {
      tp_purge(0);
      if (test::statistics().retained_bytes != 0) return 10;
      return tp_is_valid() ? 0 : 11;
    });
    stop.store(true);
    purger.join();
  });
}

// Pages that are listed and still among the full ones, although no one is between the two any more.
size_t lost_pages() {
  size_t lost = 0;
  for (tp::Heap* heap = tp::first_heap(); heap != nullptr; heap = heap->next) {
    tp::Locked locked(heap->lock);
    tp::drain_pending(heap);
    for (tp::PageId id : heap->full) {
      for (; id != 0; id = tp::page_of(id)->next) lost += tp::RemoteWord{tp::page_of(id)->remote.load()}.listed();
    }
  }
  return lost;
}

// Where every free goes to its page at once, a fork may come between the two steps of telling a page's owner.
TEST(Fork, WhileBlocksGoBackToFullPagesTheChildLosesNoPage) {
  if (const char* reason = why_not_here()) GTEST_SKIP() << reason;
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(0, tp_set_option(tp_option_profile, 1));
    std::atomic<bool> stop{false};
    std::vector<std::atomic<void*>> places(600);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        while (!stop.load(std::memory_order_relaxed)) {
          // One fills pages, the other one gives the first blocks of full ones back.
          for (auto& place : places) tp_free(place.exchange(t == 0 ? tp_malloc(16000) : nullptr));
        }
      });
    }
    fork_each_time(400, [] {
      if (lost_pages() != 0) return 10;
      return tp_is_valid() ? 0 : 11;
    });
    stop.store(true);
    for (std::thread& thread : threads) thread.join();
    for (auto& place : places) tp_free(place.load());
  });
}

void fork_and_use() {
  std::vector<void*> none;
  fork_each_time(1, [&] { return use_everything(none); });
}

// From a thread without a heap, from one that is ending, and from one whose heap is gone.
TEST(Fork, FromThreadsInEveryState) {
  if (const char* reason = why_not_here()) GTEST_SKIP() << reason;
  IN_A_PROCESS_OF_ITS_OWN({
    fork_and_use();
    std::thread(fork_and_use).join();
    tp_free(tp_malloc(100));
    static int rounds = 0;
    static pthread_key_t key;
    ASSERT_EQ(0, pthread_key_create(&key, [](void* value) {
                fork_and_use();
                if (++rounds < 3) pthread_setspecific(key, value);
              }));
    for (bool with_heap : {false, true}) {
      rounds = 0;
      std::thread([&] {
        if (with_heap) tp_free(tp_malloc(100));
        pthread_setspecific(key, &rounds);
      }).join();
      EXPECT_EQ(3, rounds);
    }
  });
}

TEST(Fork, TheChildPurgesInTheBackground) {
  if (const char* reason = why_not_here()) GTEST_SKIP() << reason;
  IN_A_PROCESS_OF_ITS_OWN({
    tp_set_option(tp_option_purge_delay_ms, 50);
    std::vector<void*> blocks(40000);
    for (void*& block : blocks) {
      block = tp_malloc(1000);
      memset(block, 1, 1000);
    }
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      for (void* block : blocks) tp_free(block);
      for (int i = 0; i < 1500 && test::statistics().purged_bytes < (20u << 20); ++i) usleep(20000);
      _exit(test::statistics().purged_bytes >= (20u << 20) ? 0 : 1);
    }
    EXPECT_EQ(0, wait_for(child));
    for (void* block : blocks) tp_free(block);
  });
}

// Heaps of threads that do not exist in the child are used again there: forking on and on does not grow.
TEST(Fork, ChainsOfForksStayInBoundedMemory) {
  if (const char* reason = why_not_here()) GTEST_SKIP() << reason;
  IN_A_PROCESS_OF_ITS_OWN({
    size_t first = 0;
    for (int generation = 0; generation < 20; ++generation) {
      std::vector<std::thread> threads;
      std::atomic<int> ready{0};
      std::atomic<bool> stop{false};
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
          tp_free(tp_malloc(100));
          ready.fetch_add(1);
          while (!stop.load()) usleep(1000);
        });
      }
      while (ready.load() != 4) usleep(500);
      if (generation == 3) first = test::statistics().metadata_bytes;
      pid_t child = fork();
      if (child != 0) {
        int code = wait_for(child);
        stop.store(true);
        for (std::thread& thread : threads) thread.join();
        _exit(code);
      }
      alarm(30);
      for (std::thread& thread : threads) thread.detach();  // they are not here
    }
    _exit(test::statistics().metadata_bytes <= first + (64u << 10) ? 0 : 30);
  });
}

}  // namespace
