// Limits that the program sets for itself while it runs, and what memory costs by the byte and by the thread.
#include <errno.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "support/memory.h"
#include "support/process.h"
#include "support/statistics.h"
#include "tidepool/tidepool.h"

namespace {

constexpr size_t megabyte = size_t{1} << 20;

bool limits_are_ours() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;  // shadow memory takes more address space than any of these limits
#else
  return getenv("TIDEPOOL_UNDER_QEMU") == nullptr;
#endif
}

void set_limit(decltype(RLIMIT_AS) what, size_t bytes) {
  rlimit limit{};
  ASSERT_EQ(0, getrlimit(what, &limit));
  limit.rlim_cur = bytes;
  ASSERT_EQ(0, setrlimit(what, &limit));
}

// Blocks of so many bytes until there are no more, untouched.
std::vector<void*> rent_all(size_t size) {
  std::vector<void*> blocks;
  blocks.reserve(1 << 17);
  errno = 0;
  while (void* block = tp_malloc(size)) blocks.push_back(block);
  EXPECT_EQ(ENOMEM, errno);
  return blocks;
}

TEST(Limits, OfAddressSpaceSetAfterTheFirstCallLeaveRoomForAllElse) {
  if (!limits_are_ours()) GTEST_SKIP() << "the limit would be that of the emulator or the sanitizer";
  IN_A_QUIET_PROCESS({
    void* first = tp_malloc(100);
    constexpr size_t limit = size_t{4} << 30;
    set_limit(RLIMIT_AS, limit);
    void* map = mmap(nullptr, megabyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(MAP_FAILED, map);
    bool ran = false;
    std::thread([&] { ran = true; }).join();
    EXPECT_TRUE(ran);
    for (size_t size : {megabyte, 100 * megabyte}) {
      std::vector<void*> blocks = rent_all(size);
      EXPECT_LE(blocks.size() * size, limit) << "the limit holds for this library, too";
      EXPECT_GE(blocks.size() * size, limit / 4 * 3);
      tp_free_batch(blocks.data(), blocks.size());
      EXPECT_TRUE(tp_is_valid());
    }
    tp_free(first);
  });
}

TEST(Limits, OfDataSetAfterTheFirstCallHold) {
  if (!limits_are_ours()) GTEST_SKIP() << "the limit would be that of the emulator or the sanitizer";
  IN_A_QUIET_PROCESS({
    void* first = tp_malloc(100);
    constexpr size_t limit = 200 * megabyte;
    set_limit(RLIMIT_DATA, limit);
    std::vector<void*> blocks = rent_all(megabyte);
    EXPECT_LE(blocks.size() * megabyte, limit);
    EXPECT_GE(blocks.size() * megabyte, limit / 4 * 3);
    tp_free_batch(blocks.data(), blocks.size());
    tp_free(first);
  });
}

int exit_code_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Whether this process may lock as much memory as the test below allows the library.
bool may_lock_all() {
  pid_t child = fork();
  if (child == 0) {
    bool may = mlockall(MCL_CURRENT | MCL_FUTURE) == 0 &&
               mmap(nullptr, 64 * megabyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    _exit(may ? 0 : 1);
  }
  return exit_code_of(child) == 0;
}

// A program that locks all its memory pays for every byte that is mapped, used or not.
TEST(Limits, AProgramThatLocksAllItsMemoryLocksLittle) {
  if (!limits_are_ours()) GTEST_SKIP() << "the emulator or the sanitizer would lock its own memory";
  if (!may_lock_all()) GTEST_SKIP() << "mlockall is not allowed here: ulimit -l";
  for (bool locked_first : {true, false}) {
    IN_A_PROCESS_OF_ITS_OWN({
      if (locked_first) {
        ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE)) << strerror(errno);
      }
      for (size_t size : {100, 5000, 100000}) {
        void* block = tp_malloc(size);
        EXPECT_NE(nullptr, block);
        tp_free(block);
      }
      if (!locked_first) {
        ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE)) << strerror(errno);
      }
      size_t locked = test::locked_bytes();
      EXPECT_GT(locked, megabyte);
      EXPECT_LT(locked, 64 * megabyte);
    });
  }
}

// Resident over requested bytes of blocks of this size, so many bytes in all, in a program large enough for huge pages.
double resident_over_requested(size_t bytes, size_t size) {
  void* untouched = tp_malloc(80 * megabyte);
  std::vector<void*> blocks(bytes / size);
  memset(blocks.data(), 0, blocks.size() * sizeof(void*));
  size_t resident = test::resident_bytes();
  for (void*& block : blocks) {
    block = tp_malloc(size);
    memset(block, 1, size);
  }
  resident = test::resident_bytes() - resident;
  tp_free_batch(blocks.data(), blocks.size());
  tp_free(untouched);
  return static_cast<double>(resident) / static_cast<double>(size * blocks.size());
}

TEST(Resident, RoundingTakesAddressesAndNoMemory) {
  if (!test::resident_is_ours()) GTEST_SKIP() << "more than ours is resident here";
  for (size_t size : {33000, 40000, 65600, 100000, 132000, 200000, 1100000}) {
    IN_A_QUIET_PROCESS({ EXPECT_LE(resident_over_requested(32 * megabyte, size), 1.15) << size; });
  }
  // Some 1.5 MiB belong to no block: tables, and the huge page that is being filled. Beside 128 MiB that is little.
  for (size_t size : {48, 1000, 2049, 3000, 5000, 6500, 9000, 17000, 24577, 32000}) {
    IN_A_QUIET_PROCESS({
      double classes = static_cast<double>(tp_good_size(size)) / static_cast<double>(size);
      double resident = resident_over_requested(128 * megabyte, size) / classes;
      EXPECT_LE(resident, 1.05) << size;
    });
  }
}

// Uses a little of 28 sizes from 16 to 6,617 bytes, as a server's thread does.
void use_many_sizes() {
  double size = 16;
  for (int i = 0; i < 28; ++i, size *= 1.25) {
    void* blocks[16];
    for (void*& block : blocks) {
      block = tp_malloc(static_cast<size_t>(size));
      memset(block, 1, static_cast<size_t>(size));
    }
    tp_free_batch(blocks, 16);
  }
}

TEST(Resident, AThreadTakesNoMoreThanWhatItUsed) {
  if (!test::resident_is_ours()) GTEST_SKIP() << "more than ours is resident here";
  IN_A_QUIET_PROCESS({
    constexpr size_t threads = 1000;
    std::latch done(threads);
    std::latch over(1);
    size_t resident = test::resident_bytes();
    std::vector<std::thread> all;
    for (size_t i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        use_many_sizes();
        done.count_down();
        over.wait();  // so that the thread stays
      });
    }
    done.wait();
    size_t each = (test::resident_bytes() - resident) / threads;
    over.count_down();
    for (std::thread& thread : all) thread.join();
    EXPECT_LE(each, 800'000u);
  });
}

}  // namespace
