#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "profile/sample_log.h"
#include "support/process.h"
#include "tidepool/tidepool.h"

namespace {

struct Allocation {
  uint64_t stack, address, time, size, thread, blocks;
};

struct Release {
  uint64_t thread, address, time;
};

// What the header of the format says; fails the test where the file says otherwise.
struct Log {
  uint64_t mean = 0, start = 0, lost = 0;
  std::vector<Allocation> allocations;
  std::vector<Release> releases;
  std::map<uint64_t, std::vector<uint64_t>> stacks;
  std::vector<std::string> modules;
  std::vector<uint64_t> classes;
};

std::string prefix() {
  static std::string path = [] {
    char here[1024];
    return std::string(getcwd(here, sizeof(here))) + "/samples-" + std::to_string(getpid());
  }();
  return path;
}

std::string path_of(pid_t process) { return prefix() + "." + std::to_string(process); }

void read_record(Log& log, const uint64_t* words, size_t count, uint64_t head) {
  uint64_t argument = head >> 32;
  switch (head & 0xff) {
    case 1: {
      ASSERT_GE(count * 8, 3 * 8 + argument);
      EXPECT_LT(words[1], words[2]);
      log.modules.emplace_back(reinterpret_cast<const char*>(words + 3), argument);
      break;
    }
    case 2: log.stacks[argument].assign(words, words + count); break;
    case 3: {
      ASSERT_EQ(count, 4u);
      EXPECT_TRUE(argument == 0 || log.stacks.count(argument) == 1) << "a stack comes before what it allocates";
      log.allocations.push_back({argument, words[0], words[1], words[2], words[3] & 0xffffffff, words[3] >> 32});
      break;
    }
    case 4: {
      ASSERT_EQ(count, 2u);
      log.releases.push_back({argument, words[0], words[1]});
      break;
    }
    case 5: {
      EXPECT_EQ(count, argument);
      log.classes.assign(words, words + count);
      break;
    }
    default: ADD_FAILURE() << "kind " << (head & 0xff);
  }
}

Log read_log(pid_t process) {
  Log log;
  std::ifstream file(path_of(process), std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_GE(bytes.size(), 4096u);
  if (bytes.size() < 4096) return log;
  std::vector<uint64_t> words(bytes.size() / 8);
  memcpy(words.data(), bytes.data(), words.size() * 8);
  EXPECT_EQ(memcmp(bytes.data(), "tidepool-samples", 16), 0);
  EXPECT_EQ(words[2] & 0xffffffff, tp::profile::sample_log::version);
  size_t at = (words[2] >> 32) / 8;
  log.mean = words[3];
  log.start = words[4];
  EXPECT_EQ(words[5], static_cast<uint64_t>(process));
  size_t end = at + words[6] / 8;
  log.lost = words[7];
  while (at < end) {
    size_t count = words[at] >> 8 & 0xffffff;
    EXPECT_GT(count, 0u);
    if (count == 0) break;
    read_record(log, &words[at + 1], count - 1, words[at]);
    at += count;
  }
  EXPECT_EQ(at, end);
  return log;
}

// Every block is a sample, and the log is on. The first use of the library reads the environment.
void begin() {
  setenv("TIDEPOOL_SAMPLE_LOG", prefix().c_str(), 1);
  ASSERT_EQ(tp_set_option(tp_option_sample_bytes, 1), 0);
}

const Release* release_of(const Log& log, const void* block) {
  const Release* found = nullptr;
  for (const Release& release : log.releases) {
    if (release.address == reinterpret_cast<uintptr_t>(block)) found = &release;
  }
  return found;
}

TEST(SampleLog, HasEachAllocationAndItsFree) {
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    void* kept = tp_malloc(300);
    void* freed = tp_malloc(70000);
    tp_free(freed);
    Log log = read_log(getpid());
    unlink(path_of(getpid()).c_str());
    EXPECT_EQ(log.mean, 1u);
    EXPECT_EQ(log.lost, 0u);
    ASSERT_EQ(log.allocations.size(), 2u);
    EXPECT_EQ(log.allocations[0].address, reinterpret_cast<uintptr_t>(kept));
    EXPECT_EQ(log.allocations[0].size, 300u);
    EXPECT_EQ(log.allocations[1].size, 70000u);
    EXPECT_EQ(log.allocations[1].blocks, 1u);
    EXPECT_EQ(log.allocations[1].thread, static_cast<uint64_t>(getpid()));
    EXPECT_LE(log.start, log.allocations[0].time);
    EXPECT_LE(log.allocations[0].time, log.allocations[1].time);
    ASSERT_EQ(log.releases.size(), 1u);
    EXPECT_EQ(log.releases[0].address, reinterpret_cast<uintptr_t>(freed));
    EXPECT_LE(log.allocations[1].time, log.releases[0].time);
    EXPECT_EQ(release_of(log, kept), nullptr);
  });
}

TEST(SampleLog, NamesTheModulesOfItsStacksAndTheClasses) {
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    tp_free(tp_malloc(100));
    Log log = read_log(getpid());
    unlink(path_of(getpid()).c_str());
    bool has_program = false;
    for (const std::string& module : log.modules) has_program = has_program || module.find("unit-profile") != std::string::npos;
    EXPECT_TRUE(has_program);
    ASSERT_EQ(log.allocations.size(), 1u);
    EXPECT_FALSE(log.stacks[log.allocations[0].stack].empty());
    ASSERT_EQ(log.classes.size(), tp::class_count);
    EXPECT_EQ(log.classes.front(), 16u);
    EXPECT_EQ(log.classes.back(), tp::max_class_size);
  });
}

TEST(SampleLog, NamesTheThreadThatFrees) {
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    void* block = tp_malloc(500);
    std::thread([&] { tp_free(block); }).join();
    Log log = read_log(getpid());
    unlink(path_of(getpid()).c_str());
    const Release* release = release_of(log, block);
    ASSERT_NE(release, nullptr);
    EXPECT_NE(release->thread, static_cast<uint64_t>(getpid()));
  });
}

TEST(SampleLog, GrowsWithoutLosingRecords) {
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    constexpr size_t count = 40000;  // 64 bytes each time: more than two of the file's steps
    for (size_t i = 0; i < count; ++i) tp_free(tp_malloc(64));
    Log log = read_log(getpid());
    unlink(path_of(getpid()).c_str());
    EXPECT_EQ(log.lost, 0u);
    EXPECT_EQ(log.allocations.size(), count);
    EXPECT_EQ(log.releases.size(), count);
  });
}

TEST(SampleLog, OfAForkedChildIsItsOwn) {
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    void* before = tp_malloc(1000);
    pid_t child = fork();
    if (child == 0) {
      tp_free(before);  // no sample of the child
      tp_free(tp_malloc(2000));
      tp_free(tp_malloc(3000));
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    Log parent = read_log(getpid());
    Log own = read_log(child);
    unlink(path_of(getpid()).c_str());
    unlink(path_of(child).c_str());
    ASSERT_EQ(parent.allocations.size(), 1u);
    EXPECT_TRUE(parent.releases.empty());
    ASSERT_EQ(own.allocations.size(), 2u);
    EXPECT_EQ(own.allocations[0].size, 2000u);
    EXPECT_FALSE(own.stacks.empty());
    EXPECT_FALSE(own.modules.empty());
    EXPECT_EQ(own.releases.size(), 2u);
    tp_free(before);
  });
}

TEST(SampleLog, IsNotThereWithoutSamplingOrWithARelativePath) {
  IN_A_PROCESS_OF_ITS_OWN({
    setenv("TIDEPOOL_SAMPLE_LOG", prefix().c_str(), 1);
    tp_free(tp_malloc(10));
    EXPECT_NE(access(path_of(getpid()).c_str(), F_OK), 0);
  });
  IN_A_PROCESS_OF_ITS_OWN({
    setenv("TIDEPOOL_SAMPLE_LOG", "samples-relative", 1);
    ASSERT_EQ(tp_set_option(tp_option_sample_bytes, 1), 0);
    tp_free(tp_malloc(10));
    EXPECT_NE(access(("samples-relative." + std::to_string(getpid())).c_str(), F_OK), 0);
  });
}

TEST(SampleLog, GoesWithoutAFileThatCannotBeMade) {
  IN_A_PROCESS_OF_ITS_OWN({
    setenv("TIDEPOOL_SAMPLE_LOG", "/nowhere/at-all", 1);
    ASSERT_EQ(tp_set_option(tp_option_sample_bytes, 1), 0);
    tp_free(tp_malloc(10));
    EXPECT_FALSE(tp::profile::sample_log::is_open());
  });
}

}  // namespace
