// Runs of slices: never twice, aligned, zero where they say so, joined again, counted.
#include "pages/runs.h"

#include <gtest/gtest.h>
#include <string.h>

#include <map>
#include <vector>

#include "pages/purge_runs.h"
#include "pages/stamp.h"
#include "support/pattern.h"

namespace {

using namespace tp;

size_t bytes_of(uint32_t slices) { return size_t{slices} << slice_shift; }

TEST(Arena, RunsAreAlignedAndTheirAddressesLeadBack) {
  for (uint32_t alignment = 1; alignment <= 1024; alignment *= 4) {
    tp::Run run = take_run(3, alignment);
    ASSERT_NE(0u, run.id);
    auto* start = static_cast<char*>(address_of(run.id));
    EXPECT_TRUE(test::is_aligned(start, size_t{alignment} << slice_shift));
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(run.id + i, slice_of(start + bytes_of(i)));
      EXPECT_EQ(run.id + i, slice_of(start + bytes_of(i + 1) - 1));
    }
    give_run(run.id, 3, false, 0);
  }
  EXPECT_EQ(0u, slice_of(nullptr));
  EXPECT_EQ(0u, slice_of(&arenas));
  EXPECT_TRUE(arenas_are_valid());
}

// Beside a model: what is handed out is nowhere else handed out, and reads as zero when it says so.
TEST(Arena, ARandomProgramOfRuns) {
  test::Random random(17);
  std::map<PageId, uint32_t> live;
  size_t used_before = arena_usage().used_bytes;
  size_t used = 0;
  for (int step = 0; step < 4000; ++step) {
    uint64_t action = random.below(10);
    if (action < 5 && live.size() < 200) {
      auto slices = static_cast<uint32_t>(1 + random.below(random.one_in(10) ? 100 : 8));
      auto alignment = static_cast<uint32_t>(1) << random.below(4);
      tp::Run run = take_run(slices, alignment);
      ASSERT_NE(0u, run.id);
      auto next = live.lower_bound(run.id);
      ASSERT_TRUE(next == live.end() || run.id + slices <= next->first) << "overlaps the run behind";
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= run.id) << "overlaps the run before";
      if (run.zeroed) {
        for (uint32_t i = 0; i < slices; ++i) {
          ASSERT_TRUE(test::is_zero(static_cast<char*>(address_of(run.id + i)) + random.below(1024) * 64, 64));
        }
      }
      for (uint32_t i = 0; i < slices; ++i) memset(static_cast<char*>(address_of(run.id + i)) + random.below(1024) * 64, 0xcc, 64);
      live.emplace(run.id, slices);
      used += slices;
    } else if (action < 9 && !live.empty()) {
      auto it = live.begin();
      std::advance(it, static_cast<long>(random.below(live.size())));
      give_run(it->first, it->second, true, now_stamp());
      used -= it->second;
      live.erase(it);
    } else if (!live.empty()) {
      auto it = live.begin();
      std::advance(it, static_cast<long>(random.below(live.size())));
      auto wanted = static_cast<uint32_t>(1 + random.below(12));
      page_of(it->first)->set_kind(PageKind::large);
      if (resize_run(it->first, it->second, wanted)) {
        used += wanted;
        used -= it->second;
        it->second = wanted;
        auto next = std::next(it);
        ASSERT_TRUE(next == live.end() || it->first + wanted <= next->first) << "grew into the run behind";
      }
    }
    if (step % 100 == 0) {
      if (random.one_in(4)) purge_runs(now_stamp(), 0);
      ASSERT_TRUE(arenas_are_valid()) << "step " << step;
      ASSERT_EQ(used_before + bytes_of(static_cast<uint32_t>(used)), arena_usage().used_bytes);
    }
  }
  for (auto [id, slices] : live) give_run(id, slices, true, now_stamp());
  EXPECT_EQ(used_before, arena_usage().used_bytes);
  EXPECT_TRUE(arenas_are_valid());
}

TEST(Arena, NeighboursBecomeOneRunAgain) {
  purge_runs(now_stamp(), 0);
  tp::Run whole = take_run(64);
  ASSERT_NE(0u, whole.id);
  for (uint32_t i = 0; i < 64; i += 2) give_run(whole.id + i, 1, true, now_stamp());
  for (uint32_t i = 1; i < 64; i += 2) give_run(whole.id + i, 1, true, now_stamp());
  tp::Run again = take_run(64);
  EXPECT_EQ(whole.id, again.id);
  EXPECT_FALSE(again.zeroed);
  give_run(again.id, 64, true, now_stamp());
}

TEST(Arena, PurgedRunsReadAsZeroAndOnlyOldOnesAreTaken) {
  purge_runs(now_stamp(), 0);
  tp::Run run = take_run(16);
  memset(address_of(run.id), 1, bytes_of(16));
  give_run(run.id, 16, true, now_stamp());
  EXPECT_EQ(bytes_of(16), arena_usage().dirty_bytes);
  EXPECT_EQ(0u, purge_runs(now_stamp(), 3600 * 1000));
  size_t purged = arena_usage().purged_bytes;
  EXPECT_EQ(bytes_of(16), purge_runs(now_stamp(), 0));
  EXPECT_EQ(purged + bytes_of(16), arena_usage().purged_bytes);
  EXPECT_EQ(0u, arena_usage().dirty_bytes);
  tp::Run again = take_run(16);
  EXPECT_TRUE(again.zeroed);
  EXPECT_TRUE(test::is_zero(address_of(again.id), bytes_of(16)));
  give_run(again.id, 16, false, 0);
}

TEST(Arena, SeveralRunsUnderOneLock) {
  tp::Run runs[8];
  ASSERT_EQ(8u, take_runs(2, 8, runs));
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < i; ++k) EXPECT_TRUE(runs[i].id >= runs[k].id + 2 || runs[k].id >= runs[i].id + 2);
  }
  for (tp::Run& run : runs) give_run(run.id, 2, true, now_stamp());
}

TEST(Arena, MoreThanThereIsIsRefused) {
  EXPECT_EQ(0u, take_run(0).id);
  EXPECT_EQ(0u, take_run(UINT32_MAX).id);
  EXPECT_EQ(0u, take_run((1u << slice_bits) + 1).id);
  EXPECT_TRUE(arenas_are_valid());
}

TEST(Arena, MetaMemoryIsZeroAlignedAndApart) {
  char* last = nullptr;
  for (size_t bytes : {1, 64, 100, 5000, 70000, 200000, 8}) {
    auto* block = static_cast<char*>(allocate_meta(bytes));
    ASSERT_NE(nullptr, block);
    EXPECT_TRUE(test::is_aligned(block, 64));
    EXPECT_TRUE(test::is_zero(block, bytes));
    memset(block, 0xee, bytes);
    EXPECT_NE(last, block);
    last = block;
  }
}

TEST(Page, EveryMultipleOfABlockSizeIsFoundAndNothingElse) {
  for (uint32_t size = 16; size <= 32768; size += size < 1024 ? 16 : 128) {
    uint32_t reciprocal = reciprocal_of(size);
    for (uint32_t offset = 0; offset < (4u << slice_shift); offset += size) {
      ASSERT_TRUE(is_block_offset(offset, size, reciprocal)) << offset << " of " << size;
    }
    for (uint32_t offset = 16; offset < (4u << slice_shift); offset += 4080) {
      ASSERT_EQ(offset % size == 0, is_block_offset(offset, size, reciprocal)) << offset << " of " << size;
    }
  }
}

}  // namespace
