// Threads, fork and leaks.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "checked/owner.h"
#include "checked/process.h"
#include "checked/quarantine.h"
#include "checked/records.h"
#include "misuses.h"
#include "support/process.h"

namespace {

// Blocks that any thread may take over from any other.
class Exchange {
 public:
  void* swap(void* block, size_t place) {
    std::lock_guard lock(mutex_);
    return std::exchange(blocks_[place % 256], block);
  }
  ~Exchange() {
    for (void* block : blocks_) tp_free(block);
  }

 private:
  std::mutex mutex_;
  void* blocks_[256] = {};
};

size_t size_of_block(std::mt19937& random) {
  switch (random() % 8) {
    case 0: return random() % 40000;
    case 1: return random() % 300000;
    default: return random() % 1000;
  }
}

void work(Exchange& exchange, unsigned seed, int rounds) {
  std::mt19937 random(seed);
  for (int i = 0; i < rounds; ++i) {
    size_t size = size_of_block(random);
    auto* block = static_cast<char*>(random() % 4 == 0 ? tp_aligned_alloc(size_t{16} << random() % 9, size) : tp_malloc(size));
    ASSERT_NE(block, nullptr);
    memset(block, static_cast<int>(i), size);
    if (random() % 8 == 0) block = static_cast<char*>(tp_realloc(block, size_of_block(random)));
    tp_free(exchange.swap(block, random()));
  }
}

TEST(CheckedProcess, OfManyThreadsHasNoFalseAlarm) {
  test::Misuses misuses;
  Exchange exchange;
  std::atomic<bool> done{false};
  std::thread validator([&] {
    while (!done) {
      EXPECT_TRUE(tp::check::is_valid());
      tp_purge(0);
    }
  });
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) threads.emplace_back(work, std::ref(exchange), seed, 4000);
  for (std::thread& thread : threads) thread.join();
  done = true;
  validator.join();
}

// AddressSanitizer must not see a block closed while its canaries are read. Few blocks, so that each is read often.
TEST(CheckedProcess, VerifiesBlocksThatAreBeingAllocated) {
  test::Misuses misuses;
  std::atomic<bool> done{false};
  std::thread validator([&] {
    while (!done) EXPECT_TRUE(tp::check::is_valid());
  });
#if defined(__SANITIZE_ADDRESS__)
  constexpr int rounds = 100000;
#else
  constexpr int rounds = 5000;  // nothing else sees closed bytes, and ThreadSanitizer and qemu are slow
#endif
  for (int i = 0; i < rounds; ++i) {
    tp_free(tp_aligned_alloc(4096, 4000));
    tp::check::empty_quarantine("the test");
  }
  done = true;
  validator.join();
}

TEST(CheckedProcess, OfHeapsAndThreadsHasNoFalseAlarm) {
  test::Misuses misuses;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([seed] {
      std::mt19937 random(seed);
      for (int round = 0; round < 60; ++round) {
        tp_heap* heap = tp_heap_create(nullptr);
        std::vector<void*> blocks;
        for (int i = 0; i < 50; ++i) blocks.push_back(tp_heap_malloc(heap, random() % 5000));
        for (size_t i = 0; i < blocks.size(); i += 2) tp_heap_free(heap, blocks[i]);
        for (int i = 0; i < 50; ++i) tp_free(tp_malloc(random() % 5000));
        tp_heap_destroy(heap);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Two threads free one block: one of them is told.
TEST(CheckedProcess, TellsOneOfTwoThreadsThatFreeABlock) {
  test::Misuses misuses;
  for (int round = 0; round < 300; ++round) {
    void* block = tp_malloc(100);
    std::atomic<int> ready{0};
    auto free_it = [&] {
      ++ready;
      while (ready != 2) std::this_thread::yield();
      tp_free(block);
    };
    std::thread first(free_it), second(free_it);
    first.join();
    second.join();
    auto seen = misuses.take();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].kind, tp_misuse_double_free);
    EXPECT_EQ(seen[0].address, block);
  }
}

TEST(CheckedProcess, CanForkWhileThreadsAllocate) {
  if (getenv("TIDEPOOL_UNDER_QEMU") != nullptr) GTEST_SKIP() << "qemu's own state does not survive fork with threads";
  test::Misuses misuses;
#if defined(__SANITIZE_THREAD__)
  tp_set_option(tp_option_background_purge, 0);  // ThreadSanitizer allows no new thread in a child
#endif
  Exchange exchange;
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 2; ++seed) {
    threads.emplace_back([&, seed] { while (!done) work(exchange, seed, 100); });
  }
  void* inherited = tp_malloc(1234);
  for (int i = 0; i < 10; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      tp_free(inherited);
      for (int j = 0; j < 200; ++j) tp_free(tp_malloc(static_cast<size_t>(j) * 50));
      tp_heap* heap = tp_heap_create(nullptr);
      bool works = tp_heap_malloc(heap, 10) != nullptr;
      tp_heap_destroy(heap);
      _exit(works && test::Misuses::take().empty() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  tp_free(inherited);
}

// The thread that was freeing a block does not exist in the child, which must not wait for it.
TEST(CheckedProcess, OfAForkDestroysAHeapWhoseBlockWasBeingFreed) {
  tp_heap* heap = tp_heap_create(nullptr);
  void* block = tp_heap_malloc(heap, 100);
  auto set_state = [block](tp::check::State state, uint32_t returning) {
    tp::check::RecordAccess access(block);
    tp::check::Record* record = access.find();
    record->state = state;
    record->owner->returning = returning;
    access.sign(record);
  };
  set_state(tp::check::State::freeing, 1);
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    tp_set_option(tp_option_background_purge, 0);  // qemu's own state does not survive a new thread in a child
    tp_heap_destroy(heap);
    _exit(tp_is_valid() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  set_state(tp::check::State::live, 0);
  tp_heap_destroy(heap);
}

TEST(CheckedProcess, ReportsLeaksByCallStack) {
  IN_A_PROCESS_OF_ITS_OWN({
    EXPECT_EQ(tp_report_leaks(), 0u);
    std::vector<void*> blocks;
    for (int i = 0; i < 10; ++i) blocks.push_back(tp_malloc(100));
    void* large = tp_malloc(5000);
    testing::internal::CaptureStderr();
    EXPECT_EQ(tp_report_leaks(), 11u);
    std::string text = testing::internal::GetCapturedStderr();
    size_t many = text.find("leak: 10 blocks, 1000 bytes");
    size_t one = text.find("leak: 1 block, 5000 bytes");
    EXPECT_NE(many, std::string::npos) << text;
    EXPECT_NE(one, std::string::npos) << text;
    EXPECT_LT(one, many) << "most bytes first";
    tp_free(large);
    for (void* block : blocks) tp_free(block);
    EXPECT_EQ(tp_report_leaks(), 0u);
  });
}

// What a fork copied is the parent's to free.
TEST(CheckedProcess, OfAForkLeaksOnlyItsOwn) {
  void* inherited = tp_malloc(100);
  pid_t child = fork();
  if (child == 0) {
    size_t before = tp_report_leaks();
    void* own = tp_malloc(50);
    size_t after = tp_report_leaks();
    _exit(own != nullptr && before == 0 && after == 1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  tp_free(inherited);
}

}  // namespace
