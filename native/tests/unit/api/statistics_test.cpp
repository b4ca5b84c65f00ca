// Statistics that add up, purge, idle threads.
#include <gtest/gtest.h>
#include <stdio.h>

#include <string>
#include <thread>
#include <vector>

#include "support/memory.h"
#include "support/pattern.h"
#include "support/process.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

TEST(Statistics, LiveBytesAreTheUsableSizesOfLiveBlocks) {
  size_t before = test::statistics().live_bytes;
  std::vector<void*> blocks;
  size_t expected = 0;
  test::Random random(99);
  for (int i = 0; i < 2000; ++i) {
    void* block = tp_malloc(random.below(i % 100 == 0 ? 200000 : 4000));
    blocks.push_back(block);
    expected += tp_usable_size(block);
  }
  EXPECT_EQ(before + expected, test::statistics().live_bytes);
  for (size_t i = 0; i < blocks.size(); i += 2) {
    expected -= tp_usable_size(blocks[i]);
    tp_free(blocks[i]);
  }
  EXPECT_EQ(before + expected, test::statistics().live_bytes);
  for (size_t i = 1; i < blocks.size(); i += 2) tp_free(blocks[i]);
  EXPECT_EQ(before, test::statistics().live_bytes);
}

// In quiet: the parts are added up one after another, and a purge in between would take from the whole only.
TEST(Statistics, CommittedCoversAllParts) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks(3000);
    for (size_t round = 0; round < 3; ++round) {
      for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = tp_malloc(i % 3000 + round * 1000);
      for (size_t i = 0; i < blocks.size(); i += 3) {
        tp_free(blocks[i]);
        blocks[i] = nullptr;
      }
      tp_statistics s = test::statistics();
      EXPECT_LE(s.live_bytes + s.cached_bytes + s.retained_bytes, s.committed_bytes);
      EXPECT_LE(s.committed_bytes, s.peak_committed_bytes);
      EXPECT_LE(s.committed_bytes, s.reserved_bytes);
      EXPECT_GT(s.metadata_bytes, 0u);
      EXPECT_GT(s.os_calls, 0u);
      EXPECT_GE(s.threads, 1u);
      tp_free_batch(blocks.data(), blocks.size());
    }
  });
}

TEST(Statistics, ClassesAddUpToTheWhole) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks(4000);
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = tp_malloc(i % 3001);
    size_t live = 0, cached = 0;
    for (size_t i = 0; i < tp_class_count(); ++i) {
      tp_class_statistics c = test::class_statistics(i);
      EXPECT_EQ(tp_class_size(i), c.block_size);
      live += c.live_blocks * c.block_size;
      cached += c.cached_blocks * c.block_size;
      if (c.live_blocks != 0) {
        EXPECT_GT(c.pages, 0u);
        EXPECT_GT(c.refills, 0u);
      }
    }
    tp_statistics s = test::statistics();
    EXPECT_EQ(live, s.live_bytes) << "no large blocks, heaps or pools are alive here";
    EXPECT_EQ(cached, s.cached_bytes);
    tp_free_batch(blocks.data(), blocks.size());
  });
}

TEST(Statistics, OfAClassFollowItsBlocks) {
  size_t index = tp_class_index(1500);
  size_t before = test::class_statistics(index).live_blocks;
  void* blocks[77];
  for (void*& block : blocks) block = tp_malloc(1500);
  EXPECT_EQ(before + 77, test::class_statistics(index).live_blocks);
  for (void* block : blocks) tp_free(block);
  EXPECT_EQ(before, test::class_statistics(index).live_blocks);
}

TEST(Statistics, RefuseWhatTheyDoNotKnow) {
  tp_class_statistics c{};
  c.struct_size = sizeof(c);
  EXPECT_FALSE(tp_get_class_statistics(tp_class_count(), &c));
  EXPECT_TRUE(tp_get_class_statistics(0, &c));
  c.struct_size = 8;
  EXPECT_FALSE(tp_get_class_statistics(0, &c));
}

TEST(Statistics, WriteNoMoreThanTheCallerHasRoomFor) {
  tp_statistics s;
  memset(&s, 0x77, sizeof(s));
  s.struct_size = offsetof(tp_statistics, committed_bytes);
  tp_get_statistics(&s);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&s);
  for (size_t i = offsetof(tp_statistics, committed_bytes); i < sizeof(s); ++i) ASSERT_EQ(0x77, bytes[i]);
  EXPECT_NE(0x7777777777777777u, s.live_bytes);
}

TEST(Statistics, RemoteFreesAreCounted) {
  size_t before = test::statistics().remote_frees;
  std::vector<void*> blocks(3000);
  ASSERT_EQ(blocks.size(), tp_malloc_batch(40, blocks.size(), blocks.data()));
  std::thread([&] { tp_free_batch(blocks.data(), blocks.size()); }).join();
  EXPECT_GE(test::statistics().remote_frees, before + 2000) << "most went back to the pages of this thread";
}

TEST(Statistics, ThreadsAndOrphansAreCounted) {
  tp_statistics before = test::statistics();
  std::thread([&] {
    void* block = tp_malloc(10);
    tp_statistics during = test::statistics();
    EXPECT_EQ(before.threads + 1, during.threads);
    tp_free(block);
  }).join();
  tp_statistics after = test::statistics();
  EXPECT_EQ(before.threads, after.threads);
  EXPECT_GE(after.orphans, 1u);
}

TEST(Statistics, ArePrintedAsText) {
  FILE* file = tmpfile();
  ASSERT_NE(nullptr, file);
  void* block = tp_malloc(100);
  tp_print_statistics(fileno(file));
  tp_free(block);
  rewind(file);
  char text[8192] = {};
  ASSERT_GT(fread(text, 1, sizeof(text) - 1, file), 0u);
  fclose(file);
  for (const char* expected : {"live bytes: ", "committed bytes: ", "class 112: live "}) {
    EXPECT_NE(nullptr, strstr(text, expected)) << expected << " is missing in\n" << text;
  }
}

TEST(Purge, GivesIdleMemoryBack) {
  IN_A_QUIET_PROCESS({
    constexpr size_t total = size_t{96} << 20;
    size_t start = test::resident_bytes();
    std::vector<void*> blocks;
    for (size_t bytes = 0; bytes < total;) {
      size_t size = 500 + bytes % 3000;
      blocks.push_back(tp_malloc(size));
      memset(blocks.back(), 1, size);
      bytes += size;
    }
    if (test::resident_is_ours()) {
      EXPECT_GE(test::resident_bytes(), start + total * 9 / 10);
    }
    for (void* block : blocks) tp_free(block);
    size_t given = tp_purge(0);
    EXPECT_GE(given, total * 8 / 10);
    EXPECT_EQ(given, test::statistics().purged_bytes);
    if (test::resident_is_ours()) {
      EXPECT_LE(test::resident_bytes(), start + (16u << 20));
    }
    EXPECT_EQ(0u, test::statistics().retained_bytes);
    // The same again: what was given back serves.
    for (void*& block : blocks) {
      block = tp_malloc(1000);
      test::fill(block, 1000, 1);
    }
    for (void* block : blocks) {
      EXPECT_TRUE(test::is_filled(block, 1000, 1));
      tp_free(block);
    }
  });
}

TEST(Purge, KeepsWhatIsNotIdleForLongEnough) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks(200);
    for (void*& block : blocks) {
      block = tp_malloc(100000);
      memset(block, 1, 100000);
    }
    for (void* block : blocks) tp_free(block);
    EXPECT_EQ(0u, tp_purge(3600 * 1000)) << "nothing is an hour old";
    EXPECT_GT(test::statistics().retained_bytes, 0u);
    EXPECT_GT(tp_purge(0), 0u);
  });
}

// Pages with a few live blocks: the free parts of them go back, and come again when they are needed.
TEST(Purge, AlsoOfPartlyUsedPagesKeepsLiveBlocks) {
  IN_A_QUIET_PROCESS({
    for (size_t size : {64, 400, 3000, 20000}) {
      std::vector<void*> blocks((24u << 20) / size);
      for (void*& block : blocks) {
        block = tp_malloc(size);
        test::fill(block, size, 2);
      }
      size_t full = test::resident_bytes();
      size_t step = 65536 / size + 3;
      for (size_t i = 0; i < blocks.size(); ++i) {
        if (i % step != 0) {
          tp_free(blocks[i]);
          blocks[i] = nullptr;
        }
      }
      tp_purge(0);
      if (test::resident_is_ours()) {
        EXPECT_LE(test::resident_bytes(), full - (12u << 20)) << size;
      }
      for (void* block : blocks) {
        if (block != nullptr) {
          ASSERT_TRUE(test::is_filled(block, size, 2)) << size;
        }
      }
      EXPECT_TRUE(tp_is_valid());
      for (void*& block : blocks) {
        if (block != nullptr) continue;
        block = tp_malloc(size);
        test::fill(block, size, 2);
      }
      for (void* block : blocks) {
        ASSERT_TRUE(test::is_filled(block, size, 2)) << size;
        tp_free(block);
      }
      tp_purge(0);
    }
    EXPECT_EQ(0u, test::statistics().live_bytes);
  });
}

TEST(Purge, HappensInTheBackgroundWhileTheProgramIsIdle) {
  if (!test::resident_is_ours()) GTEST_SKIP() << "more is resident here than the program's own memory";
  IN_A_PROCESS_OF_ITS_OWN({
    tp_set_option(tp_option_purge_delay_ms, 100);
    size_t start = test::resident_bytes();
    std::vector<void*> blocks(60000);
    for (void*& block : blocks) {
      block = tp_malloc(1000);
      memset(block, 1, 1000);
    }
    for (void* block : blocks) tp_free(block);
    for (int i = 0; i < 1200 && test::resident_bytes() > start + (12u << 20); ++i) usleep(50000);
    EXPECT_LE(test::resident_bytes(), start + (12u << 20));
  });
}

TEST(Purge, DoesNotHappenInTheBackgroundWhenItIsSwitchedOff) {
  if (!test::resident_is_ours()) GTEST_SKIP() << "more is resident here than the program's own memory";
  IN_A_PROCESS_OF_ITS_OWN({
    tp_set_option(tp_option_purge_delay_ms, 10);
    tp_set_option(tp_option_background_purge, 0);
    std::vector<void*> blocks(40000);
    for (void*& block : blocks) {
      block = tp_malloc(1000);
      memset(block, 1, 1000);
    }
    for (void* block : blocks) tp_free(block);
    size_t before = test::resident_bytes();
    usleep(400000);
    EXPECT_GE(test::resident_bytes() + (2u << 20), before);
  });
}

TEST(ThreadIdle, HandsCachedBlocksToTheirPages) {
  std::thread([] {
    std::vector<void*> blocks(200);
    ASSERT_EQ(blocks.size(), tp_malloc_batch(48, blocks.size(), blocks.data()));
    tp_free_batch(blocks.data(), blocks.size());
    tp_thread_idle();
    EXPECT_EQ(nullptr, tp_try_malloc(48)) << "nothing is left in this thread's lists";
    void* block = tp_malloc(48);
    EXPECT_NE(nullptr, block);
    tp_free(block);
  }).join();
  tp_thread_idle();
  tp_thread_idle();
}

}  // namespace
