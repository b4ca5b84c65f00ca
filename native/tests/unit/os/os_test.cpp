// The operating system behind its header: each function keeps its promise, and errno.
#include "os/os.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "os/lock.h"
#include "support/cancellation.h"
#include "support/memory.h"
#include "support/pattern.h"
#include "support/process.h"

namespace {

using namespace tp;

constexpr size_t megabyte = size_t{1} << 20;

TEST(Os, ReservedSpaceIsAlignedAndCannotBeTouched) {
  for (size_t alignment : {size_t{4096}, size_t{65536}, 2 * megabyte, 64 * megabyte}) {
    void* space = os::reserve(4 * megabyte, alignment);
    ASSERT_NE(nullptr, space);
    EXPECT_TRUE(test::is_aligned(space, alignment));
    EXPECT_DEATH(*static_cast<volatile char*>(space) = 1, "");
    os::release(space, 4 * megabyte);
  }
  EXPECT_EQ(nullptr, os::reserve(SIZE_MAX - 8191, 4096));
}

TEST(Os, CommittedPagesAreZeroAndDiscardedOnesAreZeroAgain) {
  auto* space = static_cast<char*>(os::reserve(8 * megabyte, 65536));
  ASSERT_TRUE(os::commit(space + megabyte, 4 * megabyte));
  EXPECT_TRUE(test::is_zero(space + megabyte, 4 * megabyte));
  memset(space + megabyte, 0x11, 4 * megabyte);
  size_t resident = test::resident_bytes();
  ASSERT_TRUE(os::discard(space + megabyte, 2 * megabyte));
  EXPECT_LE(test::resident_bytes(), resident - megabyte);
  EXPECT_TRUE(test::is_zero(space + megabyte, 2 * megabyte));
  EXPECT_EQ(0x11, space[3 * megabyte]) << "the rest stays";
  os::release(space, 8 * megabyte);
}

TEST(Os, ProtectedPagesCannotBeTouchedUntilTheyAreFreeAgain) {
  size_t page = os::page_size();
  auto* space = static_cast<char*>(os::reserve(megabyte, 65536));
  ASSERT_TRUE(os::commit(space, megabyte));
  space[page] = 5;
  ASSERT_TRUE(os::protect(space + page, page, false));
  space[page - 1] = 1;
  space[2 * page] = 1;
  EXPECT_DEATH(*const_cast<volatile char*>(space + page) = 1, "");
  ASSERT_TRUE(os::protect(space + page, page, true));
  EXPECT_EQ(5, space[page]);
  os::release(space, megabyte);
}

TEST(Os, MovedPagesAreThereAndGoneHere) {
  auto* space = static_cast<char*>(os::reserve(8 * megabyte, 65536));
  ASSERT_TRUE(os::commit(space, 8 * megabyte));
  memset(space, 0x22, 2 * megabyte);
  if (os::move_pages(space, space + 4 * megabyte, 2 * megabyte)) {
    EXPECT_EQ(0x22, space[4 * megabyte]);
    EXPECT_EQ(0x22, space[6 * megabyte - 1]);
    EXPECT_TRUE(test::is_zero(space, 2 * megabyte));
    memset(space, 0x33, 2 * megabyte);
    ASSERT_TRUE(os::discard(space, 2 * megabyte));
    EXPECT_TRUE(test::is_zero(space, 2 * megabyte)) << "the old range can be used and discarded as before";
  } else {
    EXPECT_EQ(0x22, space[0]) << "nothing moved";
  }
  os::release(space, 8 * megabyte);
}

// Each move leaves a mapping of its own behind: a range that moved and what follows it are two.
TEST(Os, PagesOfSeveralMappingsMoveToo) {
  if (getenv("TIDEPOOL_UNDER_QEMU") != nullptr) GTEST_SKIP() << "qemu does not know which pages are resident";
  auto* space = static_cast<char*>(os::reserve(64 * megabyte, 65536));
  ASSERT_TRUE(os::commit(space, 64 * megabyte));
  os::set_huge_pages(space, 64 * megabyte, false);
  memset(space, 0x22, 3 * megabyte);
  if (!os::move_pages(space, space + 16 * megabyte, 3 * megabyte)) GTEST_SKIP() << "this kernel moves no pages";
  memset(space + 19 * megabyte, 0x33, 65536);
  memset(space + 20 * megabyte, 0x44, megabyte);
  ASSERT_TRUE(os::move_pages(space + 16 * megabyte, space + 32 * megabyte, 6 * megabyte));
  EXPECT_EQ(0x22, space[32 * megabyte]);
  EXPECT_EQ(0x22, space[35 * megabyte - 1]);
  EXPECT_EQ(0x33, space[35 * megabyte]);
  EXPECT_EQ(0x33, space[35 * megabyte + 65535]);
  EXPECT_EQ(0x44, space[37 * megabyte - 1]);
  EXPECT_TRUE(test::is_zero(space + 37 * megabyte, megabyte));
  // A copy would have left them where they were.
  std::vector<unsigned char> resident(6 * megabyte / os::page_size());
  ASSERT_EQ(0, mincore(space + 16 * megabyte, 6 * megabyte, resident.data()));
  for (unsigned char page : resident) ASSERT_EQ(0, page % 2);
  os::release(space, 64 * megabyte);
}

// Kernels that are told the target unmap it before they find out that they cannot move anything there: here because the
// process has all the address space that it may have.
TEST(Os, PagesThatCannotBeMovedLeaveBothRangesAsTheyWere) {
  if (getenv("TIDEPOOL_UNDER_QEMU") != nullptr) GTEST_SKIP() << "the limit would be that of the emulator";
  IN_A_PROCESS_OF_ITS_OWN({
    auto* space = static_cast<char*>(os::reserve(8 * megabyte, 65536));
    ASSERT_TRUE(os::commit(space, 8 * megabyte));
    memset(space, 0x22, 2 * megabyte);
    memset(space + 4 * megabyte, 0x44, 2 * megabyte);
    rlimit before{};
    ASSERT_EQ(0, getrlimit(RLIMIT_AS, &before));
    rlimit none = before;
    none.rlim_cur = megabyte;
    ASSERT_EQ(0, setrlimit(RLIMIT_AS, &none));
    errno = 61;
    bool moved = os::move_pages(space, space + 4 * megabyte, 2 * megabyte);
    int error = errno;
    ASSERT_EQ(0, setrlimit(RLIMIT_AS, &before));
    EXPECT_EQ(61, error);
    EXPECT_FALSE(moved);
    EXPECT_EQ(0x22, space[0]);
    EXPECT_EQ(0x22, space[2 * megabyte - 1]);
    EXPECT_EQ(0x44, space[4 * megabyte]);
    EXPECT_EQ(0x44, space[6 * megabyte - 1]);
    memset(space, 0x55, 8 * megabyte);
  });
}

TEST(Os, MapsAtAnAddressUnlessSomethingLiesThere) {
  auto* space = static_cast<char*>(os::reserve(4 * megabyte, 65536));
  os::release(space, 4 * megabyte);
  EXPECT_EQ(os::Mapped::yes, os::map_at(space + megabyte, megabyte, os::Access::read_and_write));
  EXPECT_TRUE(test::is_zero(space + megabyte, megabyte));
  space[megabyte] = 7;
  EXPECT_EQ(os::Mapped::taken, os::map_at(space + megabyte, megabyte, os::Access::read_and_write));
  EXPECT_EQ(os::Mapped::taken, os::map_at(space, 2 * megabyte, os::Access::read_and_write)) << "also where only a part is taken";
  EXPECT_EQ(7, space[megabyte]) << "what lies there stays";
  EXPECT_EQ(os::Mapped::yes, os::map_at(space + 2 * megabyte, megabyte, os::Access::read));
  EXPECT_TRUE(test::is_zero(space + 2 * megabyte, megabyte));
  EXPECT_DEATH(space[2 * megabyte] = 1, "");
  ASSERT_TRUE(os::commit(space + 2 * megabyte, megabyte));
  space[2 * megabyte] = 1;
  os::release(space + megabyte, 2 * megabyte);
}

// A debugger that writes a core reads every mapping that does not say no.
TEST(Os, WhatIsOnlyReservedStaysOutOfCoreDumps) {
  if (getenv("TIDEPOOL_UNDER_QEMU") != nullptr) GTEST_SKIP() << "the flags would be those of the emulator's mappings";
  auto* space = static_cast<char*>(os::reserve(4 * megabyte, 65536));
  ASSERT_TRUE(os::commit(space, megabyte));
  EXPECT_FALSE(test::has_mapping_flag(space, "dd"));
  EXPECT_TRUE(test::has_mapping_flag(space + 2 * megabyte, "dd"));
  os::release(space, 4 * megabyte);
}

TEST(Os, TheNthCallFailsOnce) {
  auto* space = static_cast<char*>(os::reserve(megabyte, 65536));
  os::fail_after(3);
  EXPECT_TRUE(os::commit(space, 65536));
  EXPECT_TRUE(os::discard(space, 65536));
  EXPECT_FALSE(os::protect(space, 65536, false));
  EXPECT_TRUE(os::protect(space, 65536, true));
  os::fail_after(1);
  EXPECT_EQ(nullptr, os::reserve(megabyte, 65536));
  os::fail_after(1);
  EXPECT_EQ(os::Mapped::no_memory, os::map_at(space + megabyte, 65536, os::Access::read_and_write));
  os::fail_after(1);
  EXPECT_FALSE(os::commit(space, 65536));
  os::fail_after(1);
  EXPECT_FALSE(os::discard(space, 65536));
  os::fail_after(0);
  EXPECT_TRUE(os::discard(space, 65536));
  os::release(space, megabyte);
}

TEST(Os, CallsAreCountedAndErrnoIsKept) {
  size_t before = os::call_count();
  errno = 61;
  auto* space = static_cast<char*>(os::reserve(megabyte, 65536));
  EXPECT_FALSE(os::commit(nullptr, 4096 * 3));
  os::commit(space, megabyte);
  os::set_huge_pages(space, megabyte, true);
  os::discard(space, megabyte);
  os::release(space, megabyte);
  os::random_seed();
  os::now_ms();
  std::atomic<uint32_t> word{1};
  os::wait(&word, 0, 0);  // the system refuses to wait
  os::wait(&word, 1, 1);  // the time is over
  os::wake_one(&word);
  os::write_all(-1, "nowhere", 7);
  EXPECT_EQ(61, errno);
  EXPECT_GE(os::call_count(), before + 6);
}

TEST(Os, TimeGoesForward) {
  uint64_t start = os::now_ms();
  usleep(30000);
  uint64_t after = os::now_ms();
  EXPECT_GE(after, start + 15);
  EXPECT_LE(after, start + 60000);
}

TEST(Os, TextGoesWholeIntoAPipe) {
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  std::string text(100000, 'q');
  std::string read_back;
  std::thread reader([&] {
    char buffer[4096];
    ssize_t count;
    while ((count = read(ends[0], buffer, sizeof(buffer))) > 0) read_back.append(buffer, static_cast<size_t>(count));
  });
  os::write_all(ends[1], text.data(), text.size());
  close(ends[1]);
  reader.join();
  close(ends[0]);
  EXPECT_EQ(text, read_back);
}

TEST(Os, AWaiterWakesUpByCallByTimeAndNotAtAllWhenTheWordIsAnother) {
  std::atomic<uint32_t> word{1};
  os::wait(&word, 0, 0);  // returns at once
  uint64_t start = os::now_ms();
  os::wait(&word, 1, 40);
  EXPECT_GE(os::now_ms() + 10, start + 40);
  std::thread waiter([&] {
    while (word.load() == 1) os::wait(&word, 1, 0);
  });
  usleep(10000);
  word.store(2);
  os::wake_one(&word);
  waiter.join();
}

TEST(Os, SeedsAndTextsAreNoPointsOfCancellation) {
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  EXPECT_TRUE(test::ends_though_cancelled([] { os::random_seed(); }));
  ASSERT_TRUE(test::ends_though_cancelled([&] { os::write_all(ends[1], "text", 4); }));
  char text[8] = {};
  EXPECT_EQ(4, read(ends[0], text, sizeof(text)));
  EXPECT_STREQ("text", text);
  close(ends[0]);
  close(ends[1]);
}

TEST(Os, AThreadIsNotCancelledWhileItMustNotBe) {
  EXPECT_TRUE(test::ends_though_cancelled([] {
    os::NoCancellation outer;
    { os::NoCancellation inner; }
    pthread_testcancel();
  }));
  { os::NoCancellation over; }
  int state = PTHREAD_CANCEL_DISABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  EXPECT_EQ(PTHREAD_CANCEL_ENABLE, state) << "as it was before";
}

TEST(Lock, OneAtATime) {
  Lock lock;
  long plain = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 30000; ++i) {
        Locked locked(lock);
        long read = plain;
        if (i % 1000 == 0) std::this_thread::yield();
        plain = read + 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(4 * 30000, plain);
}

TEST(Lock, TryFailsWhileItIsHeldAndWorksAfterwards) {
  Lock lock;
  lock.lock();
  std::thread([&] { EXPECT_FALSE(lock.try_lock()); }).join();
  lock.unlock();
  std::thread([&] {
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
  }).join();
  lock.lock();
  lock.reset();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

}  // namespace
