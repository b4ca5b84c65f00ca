// Purges: what they ask the system for, counted; what comes back to a page that gave memory back; what survives.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "api/process.h"
#include "heap/heap.h"
#include "heap/shapes.h"
#include "support/pattern.h"
#include "support/process.h"
#include "support/statistics.h"

namespace {

using namespace tp;

struct Calls {
  size_t os = os::call_count(), barriers = os::barrier_count();
  size_t os_since() const { return os::call_count() - os; }
  size_t barriers_since() const { return os::barrier_count() - barriers; }
};

// Blocks of one page that is full with them, in ascending order.
std::vector<void*> fill_one_page(size_t size) {
  const Shape& shape = shapes.of[bin_of(size)];
  std::vector<void*> blocks;
  for (;;) {
    blocks.push_back(tp_malloc(size));
    PageId id = page_with(blocks.back());
    std::vector<void*> same;
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(same), [&](void* block) { return page_with(block) == id; });
    if (same.size() != shape.capacity) continue;
    std::sort(same.begin(), same.end());
    return same;
  }
}

void free_all(const std::vector<void*>& blocks, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) tp_free(blocks[i]);
}

TEST(PurgeCalls, AreNoneWhenNothingChanged) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks = fill_one_page(4096);
    free_all(blocks, 2, 6);
    EXPECT_EQ(size_t{4} * 4096, tp_purge(0));
    for (int i = 0; i < 3; ++i) {
      Calls calls;
      EXPECT_EQ(0u, tp_purge(0));
      EXPECT_EQ(0u, calls.os_since());
      EXPECT_EQ(0u, calls.barriers_since());
    }
  });
}

TEST(PurgeCalls, AreOneForNeighboursAlsoOfWhatHasGoneBefore) {
  if (os::page_size() != 4096) GTEST_SKIP() << "pages of this system are larger than the blocks";
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks = fill_one_page(4096);
    tp_purge(0);
    free_all(blocks, 4, 7);
    Calls first;
    EXPECT_EQ(size_t{3} * 4096, tp_purge(0));
    EXPECT_EQ(1u, first.os_since());
    tp_free(blocks[3]);
    tp_free(blocks[7]);
    Calls second;
    EXPECT_EQ(size_t{2} * 4096, tp_purge(0)) << "what has gone before does not go again";
    EXPECT_EQ(1u, second.os_since()) << "one call for both sides of what has gone";
    tp_free(blocks[1]);
    tp_free(blocks[9]);
    Calls third;
    EXPECT_EQ(size_t{2} * 4096, tp_purge(0));
    EXPECT_EQ(2u, third.os_since()) << "blocks in use lie between them";
  });
}

TEST(PurgeCalls, NeedNoBarrierForTheThreadsOwnHeap) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks(3000);
    for (void*& block : blocks) block = tp_malloc(3000);
    Calls calls;
    for (size_t i = 0; i < blocks.size(); i += 3) {
      free_all(blocks, i, i + 3);
      if (i % 300 == 0) {
        EXPECT_GT(tp_purge(0), 0u);
      }
    }
    EXPECT_EQ(0u, calls.barriers_since());
  });
}

// A thread that does what it is told, one step after another.
class Sleeper {
 public:
  template <typename Body>
  void run(Body body) {
    body_ = body;
    go(1);
  }
  ~Sleeper() {
    state_.store(2);
    thread_.join();
  }

 private:
  void go(int state) {
    state_.store(state);
    while (state_.load() != 0) std::this_thread::yield();
  }
  std::atomic<int> state_{0};
  std::function<void()> body_;
  std::thread thread_{[this] {
    for (int state; (state = state_.load()) != 2;) {
      if (state == 1) {
        body_();
        state_.store(0);
      }
      std::this_thread::yield();
    }
  }};
};

TEST(PurgeCalls, TakeOneBarrierForAnotherHeapThatChangedAndNoneElse) {
  if (!os::has_barrier_of_process()) GTEST_SKIP() << "there is no barrier here";
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks;
    Sleeper sleeper;
    sleeper.run([&] {
      blocks = fill_one_page(4096);
      free_all(blocks, 2, 6);
      tp_thread_idle();
    });
    Calls first;
    EXPECT_GE(tp_purge(0), size_t{4} * 4096);
    EXPECT_EQ(1u, first.barriers_since());
    Calls second;
    EXPECT_EQ(0u, tp_purge(0));
    EXPECT_EQ(0u, second.barriers_since()) << "nothing changed";
    // Blocks that this thread gives back to the other one's page are a change of that heap.
    free_all(blocks, 8, 10);
    Calls third;
    EXPECT_EQ(size_t{2} * 4096, tp_purge(0));
    EXPECT_EQ(1u, third.barriers_since());
    sleeper.run([&] {
      free_all(blocks, 10, 12);
      tp_thread_idle();
    });
    Calls fourth;
    EXPECT_EQ(size_t{2} * 4096, tp_purge(0));
    EXPECT_EQ(1u, fourth.barriers_since());
  });
}

TEST(PurgeCalls, OfAPurgeThatKeepsSomeDoNotHideItFromTheNext) {
  IN_A_QUIET_PROCESS({
    void* block = tp_malloc(4 << 20);
    tp_free(block);
    EXPECT_EQ(0u, trim_process(size_t{64} << 20)) << "all of it may stay";
    EXPECT_GE(tp_purge(0), size_t{4} << 20);
    block = tp_malloc(4 << 20);
    tp_free(block);
    size_t some = trim_process(size_t{1} << 20);
    EXPECT_GE(some, size_t{2} << 20);
    EXPECT_LE(some, size_t{3} << 20);
    EXPECT_EQ(size_t{1} << 20, tp_purge(0));
    block = tp_malloc(4 << 20);
    tp_free(block);
    EXPECT_EQ(0u, tp_purge(3600 * 1000)) << "nothing is an hour old";
    EXPECT_GE(tp_purge(0), size_t{4} << 20);
  });
}

constexpr size_t trim_leaves = size_t{1} << 20;

TEST(TrimCalls, AreNoneForFewBlocks) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks = fill_one_page(4096);
    tp_purge(0);
    free_all(blocks, 2, 6);
    Calls calls;
    EXPECT_EQ(0u, trim_process(0));
    EXPECT_EQ(0u, calls.os_since());
    EXPECT_EQ(size_t{4} * 4096, tp_purge(0)) << "a purge leaves nothing";
  });
}

TEST(TrimCalls, AddUp) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks(4000);
    for (void*& block : blocks) block = tp_malloc(3000);
    tp_purge(0);
    size_t gone = 0;
    int times = 0;
    for (size_t i = 0; i < blocks.size(); i += 8) {
      free_all(blocks, i, i + 8);
      size_t bytes = trim_process(0);
      gone += bytes;
      times += bytes != 0;
    }
    EXPECT_GE(gone + trim_leaves, blocks.size() * 3000);
    EXPECT_LE(tp_purge(0), trim_leaves);
    EXPECT_GT(times, 5);
    EXPECT_LT(times, 100) << "of 500 trims";
  });
}

// Rents blocks of the size so that each lies alone in one of so many units of the system.
std::vector<void*> blocks_that_keep_units(size_t size, size_t units) {
  std::vector<void*> blocks(units * (4096 / size));
  for (void*& block : blocks) block = tp_malloc(size);
  std::set<uintptr_t> kept;
  auto rest = std::partition(blocks.begin(), blocks.end(), [&](void* block) {
    return kept.insert(reinterpret_cast<uintptr_t>(block) / 4096).second;
  });
  std::for_each(rest, blocks.end(), tp_free);
  tp_purge(0);
  blocks.erase(rest, blocks.end());
  return blocks;
}

// The blocks fit into magazines, so only their number tells how much they leave idle.
TEST(TrimCalls, CountSmallBlocksThatKeptMuch) {
  if (os::page_size() != 4096) GTEST_SKIP() << "pages of this system are larger than what each block keeps";
  IN_A_QUIET_PROCESS({
    constexpr size_t of_each = 120;
    std::vector<void*> blocks;
    for (size_t size : {32, 64, 128, 256}) {
      std::vector<void*> some = blocks_that_keep_units(size, of_each + 40);
      blocks.insert(blocks.end(), some.begin(), some.begin() + of_each);
    }
    tp_purge(0);
    free_all(blocks, 0, blocks.size());
    EXPECT_GE(trim_process(0), blocks.size() * 4096);
  });
}

TEST(TrimCalls, SeeWhatOtherThreadsGaveBack) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks = fill_one_page(4096);
    tp_purge(0);
    std::thread([&] { free_all(blocks, 2, 6); }).join();
    EXPECT_EQ(size_t{4} * 4096, trim_process(0)) << "their sizes are not counted";
  });
}

// Units of the system of one page that are marked as gone.
int gone_in(const void* block) { return __builtin_popcountll(discarded_of(page_with(block))->units); }

TEST(PurgedPages, GetBackNoMoreThanWhatIsRented) {
  if (os::page_size() != 4096) GTEST_SKIP() << "pages of this system are larger than the blocks";
  IN_A_QUIET_PROCESS({
    for (size_t size : {16, 64, 512, 1024, 4096}) {
      std::vector<void*> blocks = fill_one_page(size);
      free_all(blocks, 1, blocks.size());
      EXPECT_GT(tp_purge(0), 0u);
      int gone = gone_in(blocks[0]);
      EXPECT_GE(gone, 14) << size;
      // Pages of the class that are not this one may serve first.
      void* block;
      do {
        block = tp_malloc(size);
      } while (page_with(block) != page_with(blocks[0]));
      EXPECT_GE(gone_in(blocks[0]), gone - 1) << size;
    }
  });
}

// Every class: any blocks are freed, what can go goes, as many are rented again: all lie apart, and what was in use is as it was.
TEST(PurgedPages, GiveOutEachBlockOnce) {
  IN_A_QUIET_PROCESS({
    test::Random random(7);
    for (size_t bin = 1; bin <= class_count; ++bin) {
      size_t size = size_of_bin(bin);
      std::vector<void*> blocks(shapes.of[bin].capacity * 2 + 5);
      for (void*& block : blocks) test::fill(block = tp_malloc(size), size, bin);
      for (uint64_t share : {3, 40}) {
        for (void*& block : blocks) {
          if (random.one_in(share)) continue;
          ASSERT_TRUE(test::is_filled(block, size, bin)) << size;
          tp_free(block);
          block = nullptr;
        }
        tp_purge(0);
        ASSERT_TRUE(tp_is_valid()) << size;
        for (size_t i = 0; i < blocks.size(); ++i) {
          if (blocks[i] != nullptr) continue;
          test::fill(blocks[i] = tp_malloc(size), size, bin);
          if (i % 50 == 0) tp_purge(0);
        }
        ASSERT_TRUE(tp_is_valid()) << size;
        ASSERT_EQ(blocks.size(), std::set<void*>(blocks.begin(), blocks.end()).size()) << size;
      }
      for (void* block : blocks) {
        ASSERT_TRUE(test::is_filled(block, size, bin)) << size;
        tp_free(block);
      }
    }
  });
}

TEST(PurgedPages, AreWhatTheyWereWhileSeveralThreadsPurge) {
  IN_A_QUIET_PROCESS({
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    std::atomic<void*> passed[64] = {};
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      threads.emplace_back([&, seed] {
        test::Random random(seed);
        std::vector<std::pair<void*, size_t>> blocks(300);
        for (int i = 0; i < 2500; ++i) {
          auto& [block, size] = blocks[random.below(blocks.size())];
          if (block != nullptr && !test::is_filled(block, size, 1)) ++wrong;
          // Some are freed by another thread.
          if (block != nullptr && random.one_in(3)) block = passed[random.below(64)].exchange(block);
          tp_free(block);
          size = 1 + random.below(random.one_in(20) ? 100000 : 3000);
          test::fill(block = tp_malloc(size), size, 1);
          if (random.one_in(50)) tp_purge(0);
        }
        for (auto& [block, size] : blocks) tp_free(block);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (auto& block : passed) tp_free(block.load());
    EXPECT_EQ(0, wrong.load());
    EXPECT_TRUE(tp_is_valid());
    tp_purge(0);
    EXPECT_EQ(0u, test::statistics().retained_bytes);
  });
}

}  // namespace
