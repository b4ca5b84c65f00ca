#include "checked/guard.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <vector>

#include "misuses.h"
#include "os/os.h"
#include "support/process.h"

namespace {

uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

TEST(GuardedBlocks, EndAtAPage) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_guard_rate, 1), 0);
    for (size_t size : {0, 1, 16, 100, 4096, 5000, 1000000}) {
      auto* block = static_cast<unsigned char*>(tp_malloc(size));
      ASSERT_NE(block, nullptr);
      size_t room = size == 0 ? 16 : (size + 15) / 16 * 16;
      EXPECT_EQ((number(block) + room) % tp::os::page_size(), 0u) << size;
      EXPECT_EQ(number(block) % 16, 0u);
      EXPECT_TRUE(tp_owns(block));
      memset(block, 1, size);
      EXPECT_EQ(tp_usable_size(block), size);
      tp_free_sized(block, size);
    }
    for (size_t alignment : {32, 256, 4096}) {
      void* block = tp_aligned_alloc(alignment, 100);
      EXPECT_EQ(number(block) % alignment, 0u);
      tp_free_aligned_sized(block, alignment, 100);
    }
    auto* zeroed = static_cast<unsigned char*>(tp_zalloc(3000));
    for (int i = 0; i < 3000; ++i) EXPECT_EQ(zeroed[i], 0);
    tp_free(zeroed);
  });
}

TEST(GuardedBlocks, AreAboutOneInN) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_guard_rate, 10), 0);
    int guarded = 0;
    std::vector<void*> blocks;
    for (int i = 0; i < 5000; ++i) {
      blocks.push_back(tp_malloc(48));
      guarded += tp::check::may_be_guarded(blocks.back()) && (number(blocks.back()) + 48) % tp::os::page_size() == 0;
    }
    EXPECT_GT(guarded, 350);
    EXPECT_LT(guarded, 650);
    for (void* block : blocks) tp_free(block);
  });
}

TEST(GuardedBlocks, AreBounded) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_guard_rate, 1), 0);
    std::vector<void*> blocks;
    for (size_t i = 0; i < tp::check::most_guarded_blocks + 1000; ++i) {
      blocks.push_back(tp_malloc(16));
      ASSERT_NE(blocks.back(), nullptr);
    }
    EXPECT_NE((number(blocks.back()) + 16) % tp::os::page_size(), 0u);
    for (void* block : blocks) tp_free(block);
    tp_purge(0);
    void* block = tp_malloc(16);
    EXPECT_EQ((number(block) + 16) % tp::os::page_size(), 0u) << "places are not used again";
    tp_free(block);
  });
}

// A byte between the block's end and the page is not protected by the page; its canary is verified.
TEST(GuardedBlocks, HaveACanaryBeforeThePage) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_guard_rate, 1), 0);
    test::Misuses misuses;
    auto* block = static_cast<unsigned char*>(tp_malloc(20));
    unsigned char before = test::peek(block + 20);
    test::poke(block + 20, 0);
    tp_free(block);
    auto seen = misuses.take();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].kind, tp_misuse_overflow);
    test::poke(block + 20, before);
    tp_free(block);
  });
}

TEST(GuardedBlocks, GoWithTheirHeap) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_guard_rate, 1), 0);
    test::Misuses misuses;
    for (int i = 0; i < 300; ++i) {
      tp_heap* heap = tp_heap_create(nullptr);
      for (int j = 0; j < 100; ++j) {
        void* block = tp_heap_malloc(heap, 100);
        ASSERT_NE(block, nullptr);
        if (j % 2 == 0) tp_heap_free(heap, block);
      }
      tp_heap_destroy(heap);
    }
  });
}

// Other faults are the program's own.
TEST(GuardedBlocks, LeaveOtherFaultsAlone) {
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        tp_set_option(tp_option_guard_rate, 1);
        tp_free(tp_malloc(10));
        *reinterpret_cast<volatile int*>(8) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(
      {
        signal(SIGSEGV, [](int) { _exit(42); });
        tp_set_option(tp_option_guard_rate, 1);
        tp_free(tp_malloc(10));
        *reinterpret_cast<volatile int*>(8) = 1;
      },
      testing::ExitedWithCode(42), "");
}

}  // namespace
