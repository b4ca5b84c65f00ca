// Options: set by the program, read from the environment, refused when it is too late or out of range.
#include <errno.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/pattern.h"
#include "support/process.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

TEST(Options, HaveTheDocumentedDefaults) {
  IN_A_PROCESS_OF_ITS_OWN({
    EXPECT_EQ(0, tp_get_option(tp_option_memory_limit));
    EXPECT_EQ(1000, tp_get_option(tp_option_purge_delay_ms));
    EXPECT_EQ(1, tp_get_option(tp_option_background_purge));
    EXPECT_EQ(1, tp_get_option(tp_option_huge_pages));
    EXPECT_EQ(0, tp_get_option(tp_option_zero_on_free));
    EXPECT_EQ(0, tp_get_option(tp_option_profile));
    EXPECT_EQ(0, tp_get_option(tp_option_sample_bytes));
    EXPECT_EQ(0, tp_get_option(tp_option_guard_rate));
    EXPECT_EQ(1, tp_get_option(tp_option_leak_check));
  });
}

TEST(Options, BeforeTheFirstUseEveryOneCanBeSet) {
  IN_A_PROCESS_OF_ITS_OWN({
    const int64_t values[tp_option_count] = {512 << 20, 50, 0, 2, 1, 1, 65536, 100, 0};
    for (int i = 0; i < tp_option_count; ++i) EXPECT_EQ(0, tp_set_option(static_cast<tp_option>(i), values[i])) << i;
    for (int i = 0; i < tp_option_count; ++i) EXPECT_EQ(values[i], tp_get_option(static_cast<tp_option>(i))) << i;
    void* block = tp_malloc(100);
    for (int i = 0; i < tp_option_count; ++i) EXPECT_EQ(values[i], tp_get_option(static_cast<tp_option>(i))) << i;
    tp_free(block);
  });
}

TEST(Options, AfterTheFirstUseThreeCanBeSet) {
  IN_A_PROCESS_OF_ITS_OWN({
    tp_free(tp_malloc(1));
    EXPECT_EQ(0, tp_set_option(tp_option_memory_limit, 1 << 30));
    EXPECT_EQ(0, tp_set_option(tp_option_purge_delay_ms, 5));
    EXPECT_EQ(0, tp_set_option(tp_option_background_purge, 0));
    EXPECT_EQ(EBUSY, tp_set_option(tp_option_huge_pages, 0));
    EXPECT_EQ(EBUSY, tp_set_option(tp_option_zero_on_free, 1));
    EXPECT_EQ(EBUSY, tp_set_option(tp_option_profile, 1));
    EXPECT_EQ(EBUSY, tp_set_option(tp_option_sample_bytes, 1));
    EXPECT_EQ(EBUSY, tp_set_option(tp_option_guard_rate, 1));
    EXPECT_EQ(EBUSY, tp_set_option(tp_option_leak_check, 0));
    EXPECT_EQ(0, tp_get_option(tp_option_zero_on_free)) << "unchanged";
  });
}

TEST(Options, ValuesOutOfRangeAreRefused) {
  IN_A_PROCESS_OF_ITS_OWN({
    EXPECT_EQ(EINVAL, tp_set_option(tp_option_memory_limit, -1));
    EXPECT_EQ(EINVAL, tp_set_option(tp_option_purge_delay_ms, -2));
    EXPECT_EQ(EINVAL, tp_set_option(tp_option_background_purge, 2));
    EXPECT_EQ(EINVAL, tp_set_option(tp_option_huge_pages, 3));
    EXPECT_EQ(EINVAL, tp_set_option(tp_option_zero_on_free, -1));
    EXPECT_EQ(EINVAL, tp_set_option(tp_option_sample_bytes, -5));
    EXPECT_EQ(EINVAL, tp_set_option(tp_option_count, 0));
    EXPECT_EQ(EINVAL, tp_set_option(static_cast<tp_option>(-1), 0));
    EXPECT_EQ(0, tp_get_option(tp_option_count));
  });
}

TEST(Options, AreReadFromTheEnvironmentAtTheFirstUse) {
  IN_A_PROCESS_OF_ITS_OWN({
    setenv("TIDEPOOL_MEMORY_LIMIT", "512M", 1);
    setenv("TIDEPOOL_PURGE_DELAY_MS", "-1", 1);
    setenv("TIDEPOOL_BACKGROUND_PURGE", "0", 1);
    setenv("TIDEPOOL_HUGE_PAGES", "2", 1);
    setenv("TIDEPOOL_SAMPLE_BYTES", "64k", 1);
    setenv("TIDEPOOL_GUARD_RATE", "77", 1);
    tp_free(tp_malloc(1));
    EXPECT_EQ(512 << 20, tp_get_option(tp_option_memory_limit));
    EXPECT_EQ(-1, tp_get_option(tp_option_purge_delay_ms));
    EXPECT_EQ(0, tp_get_option(tp_option_background_purge));
    EXPECT_EQ(2, tp_get_option(tp_option_huge_pages));
    EXPECT_EQ(65536, tp_get_option(tp_option_sample_bytes));
    EXPECT_EQ(77, tp_get_option(tp_option_guard_rate));
  });
}

TEST(Options, BeforeTheFirstUseTheEnvironmentIsShownAndNothingIsFixed) {
  IN_A_PROCESS_OF_ITS_OWN({
    setenv("TIDEPOOL_MEMORY_LIMIT", "512M", 1);
    EXPECT_EQ(512 << 20, tp_get_option(tp_option_memory_limit));
    EXPECT_EQ(0, tp_set_option(tp_option_zero_on_free, 1)) << "asking is no use";
    EXPECT_EQ(0, tp_set_option(tp_option_memory_limit, 1 << 20));
    EXPECT_EQ(1 << 20, tp_get_option(tp_option_memory_limit));
  });
}

TEST(Options, TheProgramGoesBeforeTheEnvironment) {
  IN_A_PROCESS_OF_ITS_OWN({
    setenv("TIDEPOOL_MEMORY_LIMIT", "1G", 1);
    setenv("TIDEPOOL_PURGE_DELAY_MS", "3", 1);
    EXPECT_EQ(0, tp_set_option(tp_option_memory_limit, 2 << 20));
    tp_free(tp_malloc(1));
    EXPECT_EQ(2 << 20, tp_get_option(tp_option_memory_limit));
    EXPECT_EQ(3, tp_get_option(tp_option_purge_delay_ms));
  });
}

TEST(Options, WhatIsNoNumberIsNamedAndIgnored) {
  EXPECT_EXIT(
      {
        setenv("TIDEPOOL_MEMORY_LIMIT", "12X", 1);
        tp_free(tp_malloc(1));
        _exit(tp_get_option(tp_option_memory_limit) == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "TIDEPOOL_MEMORY_LIMIT=12X is ignored");
  for (const char* text : {"", "-", "M", "1MM", "1 ", "99999999999999999999", "9999999999G", "0x10", "-5"}) {
    EXPECT_EXIT(
        {
          setenv("TIDEPOOL_MEMORY_LIMIT", text, 1);
          tp_free(tp_malloc(1));
          _exit(tp_get_option(tp_option_memory_limit) == 0 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "is ignored")
        << text;
  }
}

TEST(Options, ZeroOnFreeZeroesEveryFreedBlock) {
  IN_A_PROCESS_OF_ITS_OWN({
    EXPECT_EQ(0, tp_set_option(tp_option_zero_on_free, 1));
    for (size_t size : {64, 500, 5000, 30000}) {
      void* kept = tp_malloc(size);
      auto* block = static_cast<unsigned char*>(tp_malloc(size));
      memset(block, 0xaa, size);
      auto* volatile stale = block;
      tp_free(block);
      EXPECT_TRUE(test::shows_nothing_of(stale, size, 0xaa)) << size;
      tp_free(kept);
    }
    // realloc frees too.
    void* kept = tp_malloc(100);
    auto* block = static_cast<unsigned char*>(tp_malloc(100));
    memset(block, 0xaa, 100);
    auto* volatile stale = block;
    void* moved = tp_realloc(block, 5000);
    EXPECT_NE(moved, static_cast<void*>(stale));
    EXPECT_TRUE(test::shows_nothing_of(stale, 100, 0xaa));
    tp_free(moved);
    tp_free(kept);
    EXPECT_EQ(0u, test::statistics().live_bytes);
  });
}

TEST(Options, HugePagesOnAndOffOnlyChangeTheCost) {
  for (int mode = 0; mode <= 2; ++mode) {
    IN_A_PROCESS_OF_ITS_OWN({
      EXPECT_EQ(0, tp_set_option(tp_option_huge_pages, mode));
      for (int round = 0; round < 3; ++round) {
        void* blocks[30];
        for (void*& block : blocks) {
          block = tp_malloc(3 << 20);
          test::fill(block, 3 << 20, 1);
        }
        for (void* block : blocks) {
          EXPECT_TRUE(test::is_filled(block, 3 << 20, 1));
          tp_free(block);
        }
        tp_purge(0);
      }
      EXPECT_TRUE(tp_is_valid());
    });
  }
}

// A thread that comes second must not run with the initial values.
TEST(Options, FromTheEnvironmentHoldForAllThreadsOfTheFirstUse) {
  for (int round = 0; round < 5; ++round) {
    IN_A_PROCESS_OF_ITS_OWN({
      // It takes a while to read this environment, longer than to make the first heap.
      static char filler[] = "TIDE=1";
      static char option[] = "TIDEPOOL_ZERO_ON_FREE=1";
      std::vector<char*> environment(300000, filler);
      environment.push_back(option);
      environment.push_back(nullptr);
      environ = environment.data();
      std::atomic<int> ready{0};
      std::vector<std::thread> threads;
      for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
          ready.fetch_add(1);
          while (ready.load() != 3) {
          }
          auto* block = static_cast<unsigned char*>(tp_malloc(400));
          memset(block, 0xaa, 400);
          auto* volatile stale = block;
          tp_free(block);
          EXPECT_TRUE(test::shows_nothing_of(stale, 400, 0xaa));
        });
      }
      for (std::thread& thread : threads) thread.join();
    });
    if (HasFailure()) return;
  }
}

TEST(Options, ZeroOnFreeHoldsForWhatEndsWithItsHeap) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(0, tp_set_option(tp_option_zero_on_free, 1));
    ASSERT_EQ(0, tp_set_option(tp_option_background_purge, 0));
    tp_heap* heap = tp_heap_create(nullptr);
    auto* large = static_cast<volatile char*>(tp_heap_malloc(heap, 100'000));
    auto* small = static_cast<volatile char*>(tp_heap_malloc(heap, 100));
    large[50'000] = 's';
    small[50] = 's';
    tp_heap_destroy(heap);
    // The addresses stay readable: nothing has gone back to the system.
    EXPECT_EQ(0, large[50'000]);
    EXPECT_EQ(0, small[50]);
  });
}

}  // namespace
