// Arenas grow in place: little at first, around what others map, and within what the fast path looks up.
#include "pages/growth.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "api/blocks.h"
#include "base/options.h"
#include "heap/heap.h"
#include "heap/shapes.h"
#include "pages/runs.h"
#include "pages/stamp.h"
#include "support/memory.h"
#include "support/pattern.h"
#include "support/process.h"

namespace {

using namespace tp;

constexpr size_t megabyte = size_t{1} << 20;
constexpr size_t gigabyte = size_t{1} << 30;

char* end_of(const Arena& arena) {
  return reinterpret_cast<char*>(arena.base + (uintptr_t{arena.committed.load()} << slice_shift));
}

// What tp_free asks before it puts the block into a magazine.
bool frees_on_the_fast_path(const void* block) {
  const detail::fast_heap* heap = detail::agreed::thread_heap;
  uintptr_t offset = detail::rotate_low_bits(reinterpret_cast<uintptr_t>(block) - heap->base);
  return offset < heap->span && heap->bins[offset >> (slice_shift - 4)] != 0;
}

TEST(Growth, FirstUseMapsLittle) {
  if (getenv("TIDEPOOL_UNDER_QEMU") != nullptr) GTEST_SKIP() << "the mappings would be those of the emulator";
  IN_A_PROCESS_OF_ITS_OWN({
    size_t before = test::mapped_bytes();
    void* block = tp_malloc(100);
    EXPECT_NE(nullptr, block);
    EXPECT_LE(test::mapped_bytes() - before, 64 * megabyte);
    // What is counted as data, and locked by mlockall, is what can be written.
    EXPECT_LE(size_t{arenas[0].mapped} << slice_shift, 16 * megabyte);
    EXPECT_EQ(0u, arenas[dense_arena].mapped);
    EXPECT_GT(window_length, 4 * gigabyte) << "and yet there is room";
    tp_free(block);
  });
}

// A debugger that writes a core reads every mapping that is not excluded: for a heap of a few MiB, 16 MiB of zeros.
TEST(Growth, WhatOfTheMapOfBinsIsNotUsedStaysOutOfCoreDumps) {
  if (getenv("TIDEPOOL_UNDER_QEMU") != nullptr) GTEST_SKIP() << "the flags would be those of the emulator's mappings";
  IN_A_PROCESS_OF_ITS_OWN({
    void* block = tp_malloc(100);
    EXPECT_FALSE(test::has_mapping_flag(block, "dd"));
    EXPECT_FALSE(test::has_mapping_flag(arenas[0].bins + slice_of(block), "dd")) << "what is used is written";
    for (uint32_t number : {uint32_t{0}, dense_arena}) {
      EXPECT_TRUE(test::has_mapping_flag(arenas[number].bins + arenas[number].slices - 1, "dd")) << "arena " << number;
    }
    tp_free(block);
  });
}

// Looks in a process of its own, because the first use fixes the options.
bool window_is_small() {
  pid_t child = fork();
  if (child == 0) {
    tp_free(tp_malloc(100));
    _exit(window_length < 160 * gigabyte);
  }
  int status = 0;
  return waitpid(child, &status, 0) != child || status != 0;
}

// The reason why this machine cannot have a heap of 64 GiB of which only small blocks are touched; null where it can.
const char* why_no_large_heap() {
  if (getenv("TIDEPOOL_UNDER_QEMU") != nullptr) return "the emulator keeps a record of every page";
  if (os::mapping_limit() <= 80 * gigabyte) return "a limit of this process is below a heap of 64 GiB";
  char overcommit = '0';
  if (FILE* file = fopen("/proc/sys/vm/overcommit_memory", "r")) {
    overcommit = static_cast<char>(fgetc(file));
    fclose(file);
  }
  if (overcommit == '2') return "vm.overcommit_memory is 2: untouched memory counts";
  return window_is_small() ? "the window of addresses is too small for a heap of 64 GiB" : nullptr;
}

size_t slow_frees_of(const std::vector<void*>& blocks) {
  size_t before = slow_free_count();
  for (void* block : blocks) tp_free(block);
  return slow_free_count() - before;
}

// Frees each block and rents it again: its magazine has room for it, so only its place could make the free slow.
size_t slow_frees_one_by_one(const std::vector<void*>& blocks, size_t size) {
  void* room = tp_malloc(size);
  size_t before = slow_free_count();
  for (void* block : blocks) {
    tp_free(block);
    EXPECT_EQ(block, tp_malloc(size));
  }
  size_t slow = slow_free_count() - before;
  tp_free(room);
  return slow;
}

constexpr size_t heap_steps = 64;
constexpr size_t sizes_of_steps[] = {64, 640, 5000, 20000};

// How many blocks of a size one step takes: more than a page holds, so that some come from a new one.
size_t blocks_of_step(size_t size) { return shapes.of[bin_of(size)].capacity + 1; }

void fill_and_free_64_gib(int huge_pages) {
  ASSERT_EQ(0, tp_set_option(tp_option_huge_pages, huge_pages));
  // The slow frees of as many blocks while the heap is small, where full magazines cause them.
  size_t slow_at_first[std::size(sizes_of_steps)];
  for (size_t s = 0; s < std::size(sizes_of_steps); ++s) {
    std::vector<void*> blocks(blocks_of_step(sizes_of_steps[s]) * heap_steps);
    for (void*& block : blocks) block = tp_malloc(sizes_of_steps[s]);
    slow_at_first[s] = slow_frees_of(blocks);
  }
  tp_purge(0);

  std::vector<void*> large;
  std::vector<void*> small[std::size(sizes_of_steps)];
  for (size_t step = 0; step < heap_steps; ++step) {
    large.push_back(tp_malloc(gigabyte - slice_size));  // not touched
    ASSERT_NE(nullptr, large.back()) << step;
    EXPECT_NE(0u, slice_of(large.back()));
    for (size_t s = 0; s < std::size(sizes_of_steps); ++s) {
      for (size_t i = blocks_of_step(sizes_of_steps[s]); i != 0; --i) small[s].push_back(tp_malloc(sizes_of_steps[s]));
    }
  }
  EXPECT_TRUE(arenas_are_valid());
  for (size_t s = 0; s < std::size(sizes_of_steps); ++s) {
    auto [first, last] = std::minmax_element(small[s].begin(), small[s].end());
    // With huge pages the two arenas take turns; without, one has all blocks.
    size_t apart = static_cast<size_t>(static_cast<char*>(*last) - static_cast<char*>(*first));
    if (huge_pages == 0) {
      EXPECT_GE(apart, (heap_steps - 2) * gigabyte) << sizes_of_steps[s];
    }
    EXPECT_EQ(0u, slow_frees_one_by_one(small[s], sizes_of_steps[s])) << sizes_of_steps[s];
    EXPECT_LE(slow_frees_of(small[s]), slow_at_first[s] + 1) << sizes_of_steps[s];
  }
  for (void* block : large) tp_free(block);
  EXPECT_TRUE(tp_is_valid());
}

TEST(Growth, OfManyGiBFreesOnTheFastPath) {
  if (const char* reason = why_no_large_heap()) GTEST_SKIP() << reason;
  for (int huge_pages : {0, 1}) IN_A_QUIET_PROCESS({ fill_and_free_64_gib(huge_pages); });
}

// Maps something of the program's own right behind what the arena has; it must stay as it is.
char* map_stranger(const Arena& arena, size_t bytes) {
  void* at = end_of(arena);
  void* map = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map != at) return nullptr;
  memset(map, 0x5a, megabyte);
  return static_cast<char*>(map);
}

TEST(Growth, GoesOnBehindWhatOthersMapped) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks{tp_malloc(100)};
    std::vector<char*> strangers;
    for (int round = 0; round < 3; ++round) {
      char* stranger = map_stranger(arenas[0], 40 * megabyte);
      ASSERT_NE(nullptr, stranger);
      strangers.push_back(stranger);
      // Through what was left in front, and beyond.
      for (int i = 0; i < 24; ++i) {
        for (size_t size : {megabyte, size_t{5000}}) {
          blocks.push_back(tp_malloc(size));
          ASSERT_NE(nullptr, blocks.back());
          memset(blocks.back(), 0x11, size);
        }
        ASSERT_TRUE(frees_on_the_fast_path(blocks.back()));
      }
      EXPECT_GT(end_of(arenas[0]), stranger + 40 * megabyte);
      EXPECT_TRUE(arenas_are_valid());
    }
    for (char* stranger : strangers) {
      EXPECT_EQ(0u, first_slice_of(slice_of(stranger + megabyte / 2))) << "is no block of ours";
      for (size_t i = 0; i < megabyte; i += 4096) ASSERT_EQ(0x5a, stranger[i]);
    }
    for (void* block : blocks) tp_free(block);
    EXPECT_TRUE(tp_is_valid());
    tp_purge(0);
    EXPECT_TRUE(arenas_are_valid());
  });
}

// Above the arenas, where the program's mappings come to lie: the map of bins covers it, the library does not own it.
TEST(Growth, AnAddressInTheWindowThatIsNotMappedIsNobodys) {
  IN_A_PROCESS_OF_ITS_OWN({
    tp_free(tp_malloc(100));
    for (uintptr_t offset = 0; offset < window_length; offset += window_length / 64) {
      void* address = reinterpret_cast<void*>(arenas[0].base + offset);
      EXPECT_EQ(0u, slice_of(address)) << offset;
      EXPECT_FALSE(frees_on_the_fast_path(address)) << offset;
      EXPECT_FALSE(tp_owns(address)) << offset;
    }
  });
}

// A system that has no memory left at any of these calls; what was there before stays usable.
TEST(Growth, FailsAtEachCallAndGoesOn) {
  for (size_t nth = 1; nth <= 12; ++nth) {
    IN_A_QUIET_PROCESS({
      os::fail_after(nth);
      std::vector<void*> blocks;
      for (int i = 0; i < 40; ++i) blocks.push_back(tp_malloc(megabyte));
      os::fail_after(0);
      EXPECT_TRUE(arenas_are_valid());
      for (int i = 0; i < 40; ++i) {
        blocks.push_back(tp_malloc(megabyte));
        EXPECT_NE(nullptr, blocks.back());
      }
      for (void* block : blocks) tp_free(block);
      EXPECT_TRUE(tp_is_valid());
    });
  }
}

bool lies_in(PageId id, uint32_t number) { return id >> slice_bits == number; }

TEST(Growth, OnlyWhatIsFilledGetsHugePagesAndOnlyInLargePrograms) {
  IN_A_QUIET_PROCESS({
    tp::Run early = take_run(4, 1, Fill::dense);
    EXPECT_TRUE(lies_in(early.id, 0)) << "the program is small";
    tp::Run large = take_run(64 * megabyte >> slice_shift);
    EXPECT_TRUE(lies_in(large.id, 0));
    tp::Run dense = take_run(4, 1, Fill::dense);
    EXPECT_TRUE(lies_in(dense.id, dense_arena));
    EXPECT_TRUE(lies_in(take_run(4).id, 0));
    // What was used is used again, whatever its pages are.
    give_run(dense.id, 4, true, now_stamp());
    EXPECT_TRUE(lies_in(take_run(4).id, dense_arena));
    EXPECT_TRUE(arenas_are_valid());
  });
}

TEST(Growth, WithoutHugePagesNothingIsDense) {
  IN_A_QUIET_PROCESS({
    ASSERT_EQ(0, tp_set_option(tp_option_huge_pages, 0));
    take_run(64 * megabyte >> slice_shift);
    EXPECT_TRUE(lies_in(take_run(4, 1, Fill::dense).id, 0));
    EXPECT_FALSE(has_huge_pages(0));
    EXPECT_FALSE(has_huge_pages(dense_arena));
  });
}

// 128 MiB of small blocks: a call for each step of mapping, none for each page.
TEST(Growth, AsksForHugePagesOnceAStep) {
  IN_A_QUIET_PROCESS({
    std::vector<void*> blocks;
    size_t before = os::call_count();
    for (size_t bytes = 0; bytes < 160 * megabyte; bytes += 4096) blocks.push_back(tp_malloc(4096));
    EXPECT_LE(os::call_count() - before, 100u);
    EXPECT_GE(size_t{arenas[dense_arena].fresh - arenas[dense_arena].first} << slice_shift, 64 * megabyte) << "most of them lie there";
    for (void* block : blocks) tp_free(block);
    EXPECT_TRUE(tp_is_valid());
  });
}

}  // namespace
