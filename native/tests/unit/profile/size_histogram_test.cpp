#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "profile/size_histogram.h"
#include "support/process.h"
#include "tidepool/tidepool.h"

namespace {

std::map<size_t, size_t> read_sizes(const std::string& path) {
  std::map<size_t, size_t> sizes;
  std::ifstream file(path);
  for (size_t size, count; file >> size >> count;) sizes[size] = count;
  return sizes;
}

std::string temporary_path() { return "sizes-" + std::to_string(getpid()) + ".txt"; }

TEST(SizeHistogram, HasABucketForEachMultipleOfSixteen) {
  uint64_t one = tp::profile::count_of(1), sixteen = tp::profile::count_of(16), seventeen = tp::profile::count_of(17);
  tp::profile::note_refill(16, 3);
  EXPECT_EQ(tp::profile::count_of(1), one + 3);
  EXPECT_EQ(tp::profile::count_of(16), sixteen + 3);
  EXPECT_EQ(tp::profile::count_of(0), one + 3);
  EXPECT_EQ(tp::profile::count_of(17), seventeen);
  uint64_t largest = tp::profile::count_of(32768);
  tp::profile::note_exact(32768);
  tp::profile::note_exact(32769);
  EXPECT_EQ(tp::profile::count_of(32768), largest + 1);
  EXPECT_EQ(tp::profile::count_of(32769), 0u);
}

TEST(SizeHistogram, LosesNothingToThreads) {
  uint64_t before = tp::profile::count_of(5000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 10000; ++j) tp::profile::note_refill(5000, 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tp::profile::count_of(5000), before + 80000);
}

TEST(SizeHistogram, CountsEveryRequestWithTheOption) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_profile, 1), 0);
    for (int i = 0; i < 1000; ++i) tp_free(tp_malloc(264));
    for (int i = 0; i < 7; ++i) tp_free(tp_zalloc(31000));
    for (int i = 0; i < 5; ++i) tp_free(tp_aligned_alloc(64, 100));
    std::string path = temporary_path();
    ASSERT_TRUE(tp_write_size_profile(path.c_str()));
    std::map<size_t, size_t> sizes = read_sizes(path);
    unlink(path.c_str());
    EXPECT_EQ(sizes[272], 1000u);
    EXPECT_EQ(sizes[31008], 7u);
    EXPECT_EQ(sizes[112], 5u);
    EXPECT_EQ(sizes.size(), 3u);
  });
}

// Without the option a refill stands for the requests that its blocks will serve, and later one refill in 16 for all.
TEST(SizeHistogram, FollowsRefillsWithoutTheOption) {
  IN_A_PROCESS_OF_ITS_OWN({
    constexpr size_t count = 40000;
    std::vector<void*> held;
    for (size_t i = 0; i < count; ++i) held.push_back(tp_malloc(264));
    for (size_t i = 0; i < count; ++i) held.push_back(tp_malloc(648));
    for (size_t size : {264, 648}) {
      EXPECT_GE(tp::profile::count_of(size), count - count / 10) << size;
      EXPECT_LE(tp::profile::count_of(size), count + count / 10) << size;
    }
    for (void* block : held) tp_free(block);
  });
}

TEST(SizeHistogram, SaysWhenItCannotBeWritten) {
  tp::profile::note_exact(64);
  errno = 0;
  EXPECT_FALSE(tp_write_size_profile("/nowhere/at-all"));
  EXPECT_EQ(errno, ENOENT);
  errno = 0;
  EXPECT_FALSE(tp_write_size_profile(nullptr));
  EXPECT_EQ(errno, EINVAL);
  if (access("/dev/full", W_OK) == 0) {
    errno = 0;
    EXPECT_FALSE(tp_write_size_profile("/dev/full"));
    EXPECT_EQ(errno, ENOSPC);
  }
}

}  // namespace
