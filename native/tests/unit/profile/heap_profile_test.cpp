#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "profile/heap_profile.h"
#include "support/process.h"
#include "tidepool/tidepool.h"

namespace {

struct Entry {
  unsigned long long live_blocks, live_bytes, blocks, bytes;
  std::vector<uintptr_t> frames;
};

struct HeapProfile {
  Entry total;
  unsigned long long mean = 0;
  std::vector<Entry> entries;
  bool has_libraries = false;
};

// The grammar of pprof's heap_v2 format; fails the test where the text leaves it.
HeapProfile read_profile() {
  HeapProfile profile;
  std::string path = "heap-" + std::to_string(getpid()) + ".txt";
  EXPECT_TRUE(tp_write_heap_profile(path.c_str()));
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  Entry& total = profile.total;
  EXPECT_EQ(sscanf(line.c_str(), "heap profile: %llu: %llu [%llu: %llu] @ heap_v2/%llu", &total.live_blocks, &total.live_bytes,
                   &total.blocks, &total.bytes, &profile.mean), 5) << line;
  while (std::getline(file, line) && !line.empty()) {
    Entry entry{};
    int used = 0;
    EXPECT_EQ(sscanf(line.c_str(), "%llu: %llu [%llu: %llu] @%n", &entry.live_blocks, &entry.live_bytes, &entry.blocks,
                     &entry.bytes, &used), 4) << line;
    std::istringstream frames(line.substr(static_cast<size_t>(used)));
    for (std::string frame; frames >> frame;) entry.frames.push_back(std::stoull(frame, nullptr, 16));
    profile.entries.push_back(entry);
  }
  std::getline(file, line);
  EXPECT_EQ(line, "MAPPED_LIBRARIES:");
  while (std::getline(file, line)) profile.has_libraries = profile.has_libraries || line.find("unit-profile") != std::string::npos;
  unlink(path.c_str());
  return profile;
}

// What pprof makes of a sample: blocks of this size are met with probability 1 - exp(-size / mean).
double estimate_live_bytes(const HeapProfile& profile) {
  double bytes = 0;
  for (const Entry& entry : profile.entries) {
    if (entry.live_blocks == 0) continue;
    double size = static_cast<double>(entry.live_bytes) / static_cast<double>(entry.live_blocks);
    bytes += static_cast<double>(entry.live_bytes) / (1 - std::exp(-size / static_cast<double>(profile.mean)));
  }
  return bytes;
}

[[gnu::noinline]] void* allocate_here(size_t size) {
  void* block = tp_malloc(size);
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

bool names(const Entry& entry, void* (*function)(size_t)) {
  auto begin = reinterpret_cast<uintptr_t>(function);
  for (uintptr_t frame : entry.frames) {
    if (frame > begin && frame < begin + 128) return true;
  }
  return false;
}

TEST(HeapProfile, IsNotThereUnlessSamplingWasOn) {
  IN_A_PROCESS_OF_ITS_OWN({
    tp_free(tp_malloc(10));
    errno = 0;
    EXPECT_FALSE(tp_write_heap_profile("never-written.txt"));
    EXPECT_EQ(errno, ENOTSUP);
    EXPECT_NE(access("never-written.txt", F_OK), 0);
  });
}

TEST(HeapProfile, WithAMeanOfOneByteFollowsEveryBlock) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_sample_bytes, 1), 0);
    std::vector<void*> held;
    for (int i = 0; i < 100; ++i) held.push_back(allocate_here(1000));
    HeapProfile all = read_profile();
    EXPECT_EQ(all.mean, 1u);
    EXPECT_EQ(all.total.live_blocks, 100u);
    EXPECT_EQ(all.total.live_bytes, 100000u);
    EXPECT_TRUE(all.has_libraries);
    ASSERT_EQ(all.entries.size(), 1u);
    EXPECT_TRUE(names(all.entries[0], allocate_here));
    for (int i = 0; i < 60; ++i) tp_free(held[static_cast<size_t>(i)]);
    HeapProfile fewer = read_profile();
    EXPECT_EQ(fewer.total.live_blocks, 40u);
    EXPECT_EQ(fewer.total.live_bytes, 40000u);
    EXPECT_EQ(fewer.total.blocks, 100u);
    EXPECT_EQ(fewer.total.bytes, 100000u);
    for (size_t i = 60; i < 100; ++i) tp_free(held[i]);
    EXPECT_EQ(read_profile().total.live_blocks, 0u);
  });
}

TEST(HeapProfile, FollowsLargeBlocks) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_sample_bytes, 1000), 0);
    void* block = allocate_here(size_t{10} << 20);
    EXPECT_EQ(read_profile().total.live_bytes, size_t{10} << 20);
    block = tp_realloc(block, size_t{20} << 20);
    EXPECT_EQ(read_profile().total.live_blocks, 1u);
    tp_free(block);
    EXPECT_EQ(read_profile().total.live_blocks, 0u);
  });
}

// The mean distance of samples is small against what is held, so that chance moves the estimate by some 3 %.
void expect_estimate(size_t mean, size_t size, size_t count) {
  ASSERT_EQ(tp_set_option(tp_option_sample_bytes, static_cast<int64_t>(mean)), 0);
  std::vector<void*> held;
  for (size_t i = 0; i < count; ++i) held.push_back(allocate_here(size));
  HeapProfile profile = read_profile();
  double held_bytes = static_cast<double>(size * count);
  EXPECT_NEAR(estimate_live_bytes(profile) / held_bytes, 1, 0.15);
  for (void* block : held) tp_free(block);
  EXPECT_EQ(read_profile().total.live_blocks, 0u);
}

TEST(HeapProfile, EstimatesSmallBlocks) { IN_A_PROCESS_OF_ITS_OWN({ expect_estimate(20000, 100, 200000); }); }
TEST(HeapProfile, EstimatesMediumBlocks) { IN_A_PROCESS_OF_ITS_OWN({ expect_estimate(20000, 5000, 6000); }); }

// The usual mean, with the fast path on: a refill counts for the blocks that it brings.
TEST(HeapProfile, EstimatesThroughMagazines) { IN_A_PROCESS_OF_ITS_OWN({ expect_estimate(size_t{1} << 18, 1000, 300000); }); }

// Sizes that are refilled at different rates keep their shares.
TEST(HeapProfile, ChargesEachSizeWithItsOwn) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_sample_bytes, 1 << 17), 0);  // the smallest mean that is drawn at refills
    std::vector<void*> held;
    for (int i = 0; i < 400000; ++i) {
      held.push_back(allocate_here(64));
      if (i % 64 == 0) held.push_back(allocate_here(4096 * 4));
    }
    double small = 0;
    double large = 0;
    HeapProfile profile = read_profile();
    for (const Entry& entry : profile.entries) {
      HeapProfile one{entry, profile.mean, {entry}, true};
      (entry.live_blocks != 0 && entry.live_bytes / entry.live_blocks < 1000 ? small : large) += estimate_live_bytes(one);
    }
    EXPECT_NEAR(small / (400000.0 * 64), 1, 0.4);
    EXPECT_NEAR(large / (6250.0 * 16384), 1, 0.2);
    for (void* block : held) tp_free(block);
  });
}

TEST(HeapProfile, FollowsBlocksFromThreadToThread) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_sample_bytes, 1), 0);
    std::vector<void*> held(1000);
    std::thread maker([&] { for (void*& block : held) block = allocate_here(300); });
    maker.join();
    EXPECT_EQ(read_profile().total.live_blocks, 1000u);
    std::vector<std::thread> breakers;
    for (size_t part = 0; part < 4; ++part) {
      breakers.emplace_back([&, part] { for (size_t i = part; i < held.size(); i += 4) tp_free(held[i]); });
    }
    for (std::thread& breaker : breakers) breaker.join();
    EXPECT_EQ(read_profile().total.live_blocks, 0u);
  });
}

TEST(HeapProfile, KeepsCountingWhenItsTableIsFull) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_sample_bytes, 1), 0);
    constexpr size_t count = 60000;
    std::vector<void*> held(count);
    for (void*& block : held) block = allocate_here(32);
    HeapProfile profile = read_profile();
    EXPECT_EQ(profile.total.blocks, count);
    EXPECT_EQ(profile.total.live_blocks, 65536u / 4 * 3);
    for (void* block : held) tp_free(block);
    EXPECT_EQ(read_profile().total.live_blocks, 0u);
  });
}

TEST(HeapProfile, SaysWhenItCannotBeWritten) {
  IN_A_PROCESS_OF_ITS_OWN({
    ASSERT_EQ(tp_set_option(tp_option_sample_bytes, 100), 0);
    tp_free(tp_malloc(10));
    errno = 0;
    EXPECT_FALSE(tp_write_heap_profile("/nowhere/at-all"));
    EXPECT_EQ(errno, ENOENT);
  });
}

}  // namespace
