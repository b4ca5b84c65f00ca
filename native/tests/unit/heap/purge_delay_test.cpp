// The delay before idle memory goes back: what makes it longer, what makes it shorter, and what a heap does with it. The clock
// stands still between two steps of a test.
#include "heap/purge_delay.h"

#include <gtest/gtest.h>

#include <vector>

#include "heap/purge.h"
#include "os/os.h"
#include "support/process.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

using tp::PurgeDelay;

constexpr uint32_t first = 1000;
constexpr size_t enough = PurgeDelay::worth_a_lesson;
constexpr uint32_t forgets_after = PurgeDelay::forgets_after_ms;

TEST(PurgeDelay, IsTheFirstUntilItLearns) {
  PurgeDelay delay{};
  EXPECT_EQ(first, delay.at(5, first));
  EXPECT_EQ(first, delay.at(4'000'000'000, first));
  EXPECT_TRUE(delay.is_first());
}

TEST(PurgeDelay, DoublesWithEachEarlyRefaultUpToTheLongest) {
  PurgeDelay delay{};
  uint32_t now = 100'000;
  for (uint32_t expected : {2000, 4000, 8000, 16'000, 30'000}) {
    uint32_t gone_at = now + delay.at(now, first);
    now = gone_at + 100;
    EXPECT_TRUE(delay.note_refault(enough, gone_at, now, first));
    EXPECT_EQ(expected, delay.at(now, first));
  }
  EXPECT_FALSE(delay.note_refault(enough, now + 1, now + 2, first)) << "there is no longer one";
  EXPECT_EQ(PurgeDelay::longest_ms, delay.at(now + 2, first));
}

TEST(PurgeDelay, CountsWhatIsNeededWithinTheNextDelay) {
  PurgeDelay in_time{}, late{};
  EXPECT_TRUE(in_time.note_refault(enough, 10'000, 10'000 + 2 * first, first));
  EXPECT_FALSE(late.note_refault(enough, 10'000, 10'001 + 2 * first, first));
  EXPECT_EQ(first, late.at(13'000, first));
}

TEST(PurgeDelay, LearnsOnceFromThePurgesBeforeALesson) {
  PurgeDelay delay{};
  EXPECT_TRUE(delay.note_refault(enough, 10'000, 10'500, first));
  EXPECT_FALSE(delay.note_refault(enough, 10'000, 10'600, first));
  EXPECT_FALSE(delay.note_refault(enough, 10'250, 10'600, first));
  EXPECT_EQ(2 * first, delay.at(10'600, first));
  EXPECT_TRUE(delay.note_refault(enough, 10'550, 10'600, first)) << "that one was after it";
}

TEST(PurgeDelay, AddsUpWhatComesBackTogetherAndNoMore) {
  PurgeDelay delay{};
  EXPECT_FALSE(delay.note_refault(enough / 2, 10'000, 10'100, first));
  EXPECT_FALSE(delay.note_refault(enough / 2 - 1, 10'000, 10'200, first));
  EXPECT_TRUE(delay.note_refault(1, 10'000, 10'300, first));
  PurgeDelay seldom{};
  for (uint32_t now = 10'000; now < 100'000; now += 2 * first + 1) {
    EXPECT_FALSE(seldom.note_refault(enough / 2, now - 100, now, first)) << "half of it each time";
  }
}

TEST(PurgeDelay, ForgetsStepByStep) {
  PurgeDelay delay{};
  uint32_t now = 10'000;
  for (int i = 0; i < 3; ++i, now += 10) ASSERT_TRUE(delay.note_refault(enough, now + 1, now + 2, first));
  uint32_t lesson = now - 8;
  EXPECT_EQ(8 * first, delay.at(lesson + forgets_after - 1, first));
  EXPECT_EQ(4 * first, delay.at(lesson + forgets_after, first));
  EXPECT_EQ(2 * first, delay.at(lesson + 2 * forgets_after, first));
  EXPECT_EQ(first, delay.at(lesson + 3 * forgets_after, first));
  EXPECT_EQ(first, delay.at(lesson + 9 * forgets_after, first));
  // The next lesson goes on from there, and counts from its own time.
  now = lesson + 2 * forgets_after + 5;
  EXPECT_TRUE(delay.note_refault(enough, now - 5, now, first));
  EXPECT_EQ(4 * first, delay.at(now + forgets_after - 1, first));
}

TEST(PurgeDelay, HasNothingToLearnWhereTheOptionIsZeroOrLongerThanTheLongest) {
  PurgeDelay delay{};
  EXPECT_FALSE(delay.note_refault(enough, 10'000, 10'000, 0));
  EXPECT_EQ(0u, delay.at(10'000, 0));
  EXPECT_FALSE(delay.note_refault(enough, 10'000, 10'001, 40'000));
  EXPECT_EQ(40'000u, delay.at(10'001, 40'000));
}

TEST(PurgeDelay, IsRightWhenStampsBeginAgain) {
  PurgeDelay delay{};
  uint32_t before = UINT32_MAX - 50;
  EXPECT_TRUE(delay.note_refault(enough, before, before + 100, first));
  EXPECT_EQ(2 * first, delay.at(before + 200, first));
  EXPECT_FALSE(delay.note_refault(enough, before - 10, before + 200, first));
  EXPECT_TRUE(delay.note_refault(enough, before + 150, before + 200, first));
}

// A heap that rents and returns so much at a time, and a clock that moves when it is told to.
class PausingHeap {
 public:
  static constexpr size_t bytes = size_t{24} << 20;

  ~PausingHeap() { tp_heap_destroy(heap_); }

  void work(size_t block = 1000) {
    std::vector<void*> blocks(bytes / block);
    for (void*& one : blocks) {
      one = tp_heap_malloc(heap_, block);
      static_cast<char*>(one)[0] = 1;
    }
    for (void* one : blocks) tp_free(one);
  }

 private:
  tp_heap* heap_ = tp_heap_create(nullptr);
};

class Clock {
 public:
  Clock() { tp::os::stop_clock(now_); }
  void pass(uint64_t ms) { tp::os::stop_clock(now_ += ms); }

  // Lets the time pass in steps of the background thread until so much has gone back; returns how long it took.
  uint64_t until_gone(size_t bytes, uint64_t longest = 100'000) {
    size_t gone = 0;
    uint64_t waited = 0;
    for (; (gone += tp::purge_idle(first, 0)) < bytes && waited < longest; waited += 250) pass(250);
    return waited;
  }

 private:
  uint64_t now_ = 1'000'000;
};

constexpr size_t most_of_it = PausingHeap::bytes * 9 / 10;

TEST(HeapThatPauses, KeepsItsMemoryLongerEachTime) {
  for (size_t block : {size_t{1000}, size_t{6000}, size_t{1} << 20}) {
    IN_A_QUIET_PROCESS({
      Clock clock;
      PausingHeap heap;
      for (uint64_t expected : {1000, 2000, 4000, 8000, 16'000, 30'000, 30'000}) {
        heap.work(block);
        EXPECT_EQ(expected, clock.until_gone(most_of_it)) << block;
        clock.pass(500);
      }
      EXPECT_LE(test::statistics().retained_bytes, size_t{1} << 20);
    });
  }
}

TEST(HeapThatPauses, IsTheOnlyOneThatKeepsIt) {
  IN_A_QUIET_PROCESS({
    Clock clock;
    PausingHeap learned, other;
    for (int i = 0; i < 3; ++i) {
      learned.work();
      clock.until_gone(most_of_it);
    }
    learned.work();
    EXPECT_EQ(8000u, clock.until_gone(most_of_it));
    clock.pass(100'000);
    other.work(200'000);
    EXPECT_EQ(1000u, clock.until_gone(most_of_it));
  });
}

TEST(HeapThatPauses, FindsTheFirstDelayAgainAfterALongTime) {
  IN_A_QUIET_PROCESS({
    Clock clock;
    PausingHeap heap;
    for (int i = 0; i < 4; ++i) {
      heap.work();
      clock.until_gone(most_of_it);
    }
    clock.pass(uint64_t{forgets_after} * 4);
    heap.work();
    EXPECT_EQ(1000u, clock.until_gone(most_of_it));
  });
}

TEST(HeapThatPauses, LearnsNothingFromWhatTheProgramPurges) {
  IN_A_QUIET_PROCESS({
    Clock clock;
    PausingHeap heap;
    for (int i = 0; i < 4; ++i) {
      heap.work();
      EXPECT_GE(tp_purge(0), most_of_it);
      clock.pass(100);
    }
    heap.work();
    EXPECT_EQ(1000u, clock.until_gone(most_of_it));
  });
}

TEST(HeapThatPauses, GivesEverythingBackWhenItIsAskedTo) {
  IN_A_QUIET_PROCESS({
    Clock clock;
    PausingHeap heap;
    for (int i = 0; i < 4; ++i) {
      heap.work();
      clock.until_gone(most_of_it);
    }
    heap.work();
    clock.pass(1500);
    EXPECT_EQ(0u, tp::purge_idle(first, 0)) << "16 s by now";
    EXPECT_GE(tp_purge(1500), most_of_it) << "that old is all of it, whatever was learned";
    heap.work();
    EXPECT_GE(tp_purge(0), most_of_it);
  });
}

// What was taken and never used yet is no memory that went back too early, however slowly a heap fills.
TEST(HeapThatPauses, LearnsNothingWhileItFills) {
  IN_A_QUIET_PROCESS({
    Clock clock;
    std::vector<void*> blocks;
    for (int step = 0; step < 60; ++step) {
      for (size_t size = 16; size <= 32768; size += size / 4) blocks.push_back(tp_malloc(size));
      if (step % 3 == 0) clock.pass(250);
      tp::purge_idle(first, size_t{8} << 20);
    }
    for (size_t i = 0; i < PausingHeap::bytes / 1000; ++i) blocks.push_back(tp_malloc(1000));
    for (void* block : blocks) tp_free(block);
    EXPECT_EQ(1000u, clock.until_gone(most_of_it));
  });
}

// Blocks of a page that stays in use: its units go and come one by one.
TEST(HeapThatPauses, CountsPartsOfPagesToo) {
  IN_A_QUIET_PROCESS({
    Clock clock;
    std::vector<void*> blocks(6000);
    for (void*& block : blocks) block = tp_malloc(4096);
    auto free_most = [&] {
      for (size_t i = 0; i < blocks.size(); ++i) {
        if (i % 16 == 0) continue;
        tp_free(blocks[i]);
        blocks[i] = nullptr;
      }
    };
    free_most();
    EXPECT_EQ(1000u, clock.until_gone(most_of_it / 2));
    for (void*& block : blocks) {
      if (block == nullptr) block = tp_malloc(4096);
    }
    free_most();
    EXPECT_EQ(2000u, clock.until_gone(most_of_it / 2));
  });
}

}  // namespace
