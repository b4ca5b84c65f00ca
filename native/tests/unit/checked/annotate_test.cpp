// AddressSanitizer is told where blocks begin and end, and reports what it sees before this library could.
#include <gtest/gtest.h>

#include "misuses.h"

#if defined(__SANITIZE_ADDRESS__)

#include <sanitizer/asan_interface.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace {

// Freed before the statement that dies: the death is that of the read alone.
TEST(Annotations, LetAddressSanitizerSeeReadsOfFreedBlocks) {
  auto* block = static_cast<volatile char*>(tp_malloc(100));
  tp_free(const_cast<char*>(block));
  EXPECT_DEATH((void)block[50], "use-after-poison");
}

TEST(Annotations, LetAddressSanitizerSeeReadsPastTheEnd) {
  auto* block = static_cast<volatile char*>(tp_malloc(100));
  __asm__("" : "+r"(block));  // UBSan must not know how long it is, for it would report first
  (void)block[99];
  EXPECT_DEATH((void)block[104], "use-after-poison");
  EXPECT_DEATH((void)block[-1], "use-after-poison");
  tp_free(const_cast<char*>(block));
}

TEST(Annotations, EndWithQuarantine) {
  auto* block = static_cast<char*>(tp_malloc(100));
  tp_free(block);
  tp_purge(0);
  for (int i = 0; i < 50; ++i) {
    auto* other = static_cast<char*>(tp_malloc(100));
    for (int at = 0; at < 100; ++at) other[at] = 1;
    tp_free(other);
  }
}

// The bytes of a live block are the program's: it may write to them, or close some, while another thread verifies.
TEST(Annotations, OfLiveBlocksStayWhileTheyAreVerified) {
  auto* block = static_cast<char*>(tp_malloc(100));
  ASAN_POISON_MEMORY_REGION(block + 48, 16);
  EXPECT_TRUE(tp_is_valid());
  EXPECT_EQ(tp_usable_size(block), 100u);
  EXPECT_FALSE(__asan_address_is_poisoned(block + 47));
  EXPECT_TRUE(__asan_address_is_poisoned(block + 48));
  EXPECT_TRUE(__asan_address_is_poisoned(block + 63));
  EXPECT_FALSE(__asan_address_is_poisoned(block + 99));
  EXPECT_TRUE(__asan_address_is_poisoned(block + 100));
  EXPECT_TRUE(__asan_address_is_poisoned(block - 1));
  // Parts that the program closed are no obstacle for the library.
  block = static_cast<char*>(tp_realloc(block, 200));
  ASAN_POISON_MEMORY_REGION(block, 200);
  tp_free(block);
}

TEST(Annotations, OfLiveBlocksStayWhileTheProgramWrites) {
  constexpr size_t size = 64 * 1024;
  auto* block = static_cast<char*>(tp_malloc(size));
  std::atomic<bool> done{false};
  std::thread validator([&] {
    while (!done) EXPECT_TRUE(tp_is_valid());
  });
  for (int i = 0; i < 5000; ++i) memset(block, i, size);
  done = true;
  validator.join();
  tp_free(block);
}

}  // namespace

#endif
