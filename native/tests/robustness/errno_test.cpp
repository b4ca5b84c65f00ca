// No free changes errno, whatever it does and whatever fails meanwhile; neither does what promises to keep it.
#include <errno.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>
#include <vector>

#include "os/os.h"
#include "support/memory.h"
#include "support/process.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

constexpr int untouched = 77;

// The nth call of the system from now on fails, and sets errno as the system would.
template <typename Free>
void expect_kept(size_t nth, const char* what, Free free) {
  tp::os::fail_after(nth);
  errno = untouched;
  free();
  int error = errno;
  tp::os::fail_after(0);
  EXPECT_EQ(untouched, error) << what << ", call " << nth << " fails";
}

struct Blocks {
  std::vector<void*> of_all_sizes, of_one_size, of_heap, of_pool;
  tp_heap* heap = tp_heap_create(nullptr);
  tp_pool* pool;

  Blocks() {
    tp_pool_options options{sizeof(options), nullptr, 3000, 0, 0, false};
    pool = tp_pool_create(&options);
    for (int i = 0; i < 60; ++i) {
      for (size_t size : {10, 300, 5000, 30000, 70000, 1 << 20}) of_all_sizes.push_back(tp_malloc(size));
      of_heap.push_back(tp_heap_malloc(heap, 40000));
    }
    for (int i = 0; i < 400; ++i) {
      of_one_size.push_back(tp_malloc(2000));
      of_pool.push_back(tp_pool_rent(pool));
    }
  }
};

TEST(Errno, IsKeptByEveryFree) {
  IN_A_PROCESS_OF_ITS_OWN({
    for (size_t nth : {1, 2, 3, 5, 8, 0}) {
      Blocks blocks;
      expect_kept(nth, "tp_free", [&] {
        for (void* block : blocks.of_all_sizes) tp_free(block);
      });
      expect_kept(nth, "tp_free_sized", [&] {
        for (void* block : blocks.of_one_size) tp_free_sized(block, 2000);
      });
      expect_kept(nth, "tp_heap_free", [&] {
        for (void* block : blocks.of_heap) tp_heap_free(blocks.heap, block);
      });
      expect_kept(nth, "tp_pool_return", [&] { tp_pool_return_batch(blocks.pool, blocks.of_pool.data(), blocks.of_pool.size()); });
      expect_kept(nth, "tp_purge", [] { tp_purge(0); });
      expect_kept(nth, "tp_heap_destroy", [&] { tp_heap_destroy(blocks.heap); });
      expect_kept(nth, "tp_pool_destroy", [&] { tp_pool_destroy(blocks.pool); });
    }
    EXPECT_EQ(0u, test::statistics().live_bytes);
  });
}

TEST(Errno, IsKeptByFreesOfThreadsWithoutAHeap) {
  IN_A_PROCESS_OF_ITS_OWN({
    for (size_t nth : {1, 2, 3, 4, 0}) {
      Blocks blocks;
      std::thread([&] {
        expect_kept(nth, "tp_free", [&] {
          for (void* block : blocks.of_all_sizes) tp_free(block);
          tp_free_batch(blocks.of_one_size.data(), blocks.of_one_size.size());
        });
      }).join();
      tp_heap_destroy(blocks.heap);
      tp_pool_destroy(blocks.pool);
    }
  });
}

// The thread that purges in the background cannot be made: there is no address space for its stack.
TEST(Errno, IsKeptByAFreeThatCannotMakeAThread) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs address space itself";
#endif
  if (getenv("TIDEPOOL_UNDER_QEMU") != nullptr) GTEST_SKIP() << "the limit would be that of the emulator";
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(0, tp_set_option(tp_option_background_purge, 0));
    void* block = tp_malloc(16 << 20);
    void* small = tp_malloc(100);
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = test::mapped_bytes();
    ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
    ASSERT_EQ(0, tp_set_option(tp_option_background_purge, 1));
    errno = untouched;
    tp_free(block);
    EXPECT_EQ(untouched, errno);
    errno = untouched;
    tp_free(small);
    tp_thread_idle();
    EXPECT_EQ(untouched, errno);
  });
}

TEST(Errno, IsKeptByTheFunctionsThatNeverBlock) {
  errno = untouched;
  for (size_t size : {size_t{0}, size_t{100}, size_t{40000}, SIZE_MAX}) {
    void* block = tp_try_malloc(size);
    if (block != nullptr && !tp_try_free(block)) tp_free(block);
  }
  EXPECT_FALSE(tp_try_free(nullptr));
  int local = 0;
  EXPECT_FALSE(tp_try_free(&local));
  EXPECT_EQ(untouched, errno);
}

}  // namespace
