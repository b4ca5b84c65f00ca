#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "profile/sample_log.h"
#include "support/cancellation.h"
#include "support/memory.h"
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

size_t size_of(const std::string& path) {
  struct stat file{};
  return stat(path.c_str(), &file) == 0 ? static_cast<size_t>(file.st_size) : 0;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

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

Log read_log(pid_t process, const std::string& path) {
  Log log;
  std::string bytes = text_of(path);
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

Log read_log(pid_t process) { return read_log(process, path_of(process)); }

// Every block is a sample, and the log is on. The first use of the library reads the environment.
void begin() {
  setenv("TIDEPOOL_SAMPLE_LOG", prefix().c_str(), 1);
  ASSERT_EQ(tp_set_option(tp_option_sample_bytes, 1), 0);
}

// 64 bytes of records each time.
void record_pairs(size_t count) {
  for (size_t i = 0; i < count; ++i) tp_free(tp_malloc(64));
}

void set_limit(decltype(RLIMIT_AS) what, rlim_t bytes) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(what, &limit), 0);
  limit.rlim_cur = bytes;
  ASSERT_EQ(setrlimit(what, &limit), 0);
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
    constexpr size_t count = 40000;  // more than two of the file's steps
    record_pairs(count);
    Log log = read_log(getpid());
    unlink(path_of(getpid()).c_str());
    EXPECT_EQ(log.lost, 0u);
    EXPECT_EQ(log.allocations.size(), count);
    EXPECT_EQ(log.releases.size(), count);
  });
}

TEST(SampleLog, BeginsSmallAndDoublesUntilItsStepsAreLarge) {
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    std::string path = path_of(getpid());
    std::vector<size_t> kilobytes;
    for (int i = 0; i < 40000; ++i) {
      record_pairs(1);
      size_t now = size_of(path) >> 10;
      if (kilobytes.empty() || kilobytes.back() != now) kilobytes.push_back(now);
    }
    unlink(path.c_str());
    EXPECT_EQ(kilobytes, (std::vector<size_t>{64, 128, 256, 512, 1024, 2048, 3072}));
  });
}

TEST(SampleLog, CountsWhatTheLimitOfFilesLeavesNoRoomFor) {
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    set_limit(RLIMIT_FSIZE, 200 << 10);
    record_pairs(10000);
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    Log log = read_log(getpid());
    size_t size = size_of(path_of(getpid()));
    unlink(path_of(getpid()).c_str());
    EXPECT_EQ(size, 192u << 10);
    EXPECT_GT(log.allocations.size(), 2500u);
    EXPECT_EQ(log.lost + log.allocations.size() + log.releases.size(), 20000u);
  });
}

TEST(SampleLog, HeedsALimitOfFilesThatCameLater) {
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    record_pairs(1);
    set_limit(RLIMIT_FSIZE, 100 << 10);
    record_pairs(10000);  // a signal would end the process
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    Log log = read_log(getpid());
    unlink(path_of(getpid()).c_str());
    EXPECT_GT(log.lost, 0u);
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

// The modules that the child has come from its parent: the loader would name one more.
TEST(SampleLog, OfAForkedChildHasTheModulesWithoutTheLoader) {
  const char* library = "libresolv.so.2";
  void* found = dlopen(library, RTLD_NOW);
  if (found == nullptr) GTEST_SKIP() << library << " is missing";
  dlclose(found);
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    record_pairs(1);
    pid_t child = fork();
    if (child == 0) {
      bool loaded = dlopen(library, RTLD_NOW) != nullptr;
      record_pairs(1);
      _exit(loaded ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    Log parent = read_log(getpid());
    Log own = read_log(child);
    unlink(path_of(getpid()).c_str());
    unlink(path_of(child).c_str());
    EXPECT_FALSE(parent.modules.empty());
    EXPECT_EQ(own.modules, parent.modules);
    ASSERT_EQ(own.allocations.size(), 1u);
    EXPECT_FALSE(own.stacks[own.allocations[0].stack].empty());
  });
}

TEST(SampleLog, BeginsAndGrowsInAThreadThatIsCancelled) {
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    constexpr size_t count = 4000;
    ASSERT_TRUE(test::ends_though_cancelled([] { record_pairs(1); }));
    ASSERT_TRUE(test::ends_though_cancelled([] { record_pairs(count - 1); }));
    Log log = read_log(getpid());
    unlink(path_of(getpid()).c_str());
    EXPECT_EQ(log.lost, 0u);
    EXPECT_EQ(log.allocations.size(), count);
  });
}

TEST(SampleLog, TakesTheNextNameWhereSomethingHasItsOwn) {
  IN_A_PROCESS_OF_ITS_OWN({
    std::string first = path_of(getpid());
    std::string second = first + ".1";
    std::string third = first + ".2";
    std::string target = first + "-target";
    std::ofstream(first) << "another's";
    ASSERT_EQ(symlink(target.c_str(), second.c_str()), 0);
    begin();
    record_pairs(1);
    std::string left = text_of(first);
    bool followed = access(target.c_str(), F_OK) == 0;
    Log log = read_log(getpid(), third);
    for (const std::string& path : {first, second, third, target}) unlink(path.c_str());
    EXPECT_EQ(left, "another's");
    EXPECT_FALSE(followed);
    EXPECT_EQ(log.allocations.size(), 1u);
  });
}

TEST(SampleLog, GoesWithoutAFileWhenTooManyNamesAreTaken) {
  IN_A_PROCESS_OF_ITS_OWN({
    std::vector<std::string> paths = {path_of(getpid())};
    for (int i = 1; i < 100; ++i) paths.push_back(paths[0] + "." + std::to_string(i));
    for (const std::string& path : paths) std::ofstream(path) << "another's";
    begin();
    record_pairs(1);
    for (const std::string& path : paths) {
      EXPECT_EQ(text_of(path), "another's");
      unlink(path.c_str());
    }
    EXPECT_FALSE(tp::profile::sample_log::is_open());
    EXPECT_NE(access((paths[0] + ".100").c_str(), F_OK), 0);
  });
}

// A step opens the file by its name, which may be another's by then.
TEST(SampleLog, GrowsInNoFileButItsOwn) {
  for (bool by_link : {false, true}) {
    IN_A_PROCESS_OF_ITS_OWN({
      begin();
      record_pairs(1);
      std::string path = path_of(getpid());
      std::string moved = path + "-moved";
      ASSERT_EQ(rename(path.c_str(), moved.c_str()), 0);
      if (by_link) {
        ASSERT_EQ(symlink(moved.c_str(), path.c_str()), 0);
      } else {
        std::ofstream(path) << "another's";
      }
      record_pairs(4000);
      std::string left = by_link ? "another's" : text_of(path);
      Log log = read_log(getpid(), moved);
      size_t size = size_of(moved);
      unlink(path.c_str());
      unlink(moved.c_str());
      EXPECT_EQ(left, "another's");
      EXPECT_EQ(size, 64u << 10);
      EXPECT_GT(log.lost, 0u);
    });
  }
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

TEST(SampleLog, LeavesNoFileBehindThatItCannotUse) {
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    set_limit(RLIMIT_FSIZE, 10000);
    tp_free(tp_malloc(10));
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    EXPECT_FALSE(tp::profile::sample_log::is_open());
    EXPECT_NE(access(path_of(getpid()).c_str(), F_OK), 0);
  });
  if (!test::resident_is_ours()) GTEST_SKIP() << "the limit would be that of the emulator or the sanitizer";
  IN_A_PROCESS_OF_ITS_OWN({
    begin();
    set_limit(RLIMIT_AS, test::mapped_bytes() + (size_t{300} << 20));  // the log wants more
    tp_free(tp_malloc(10));
    EXPECT_FALSE(tp::profile::sample_log::is_open());
    EXPECT_NE(access(path_of(getpid()).c_str(), F_OK), 0);
  });
}

}  // namespace
