// AddressSanitizer is told where blocks begin and end, and reports what it sees before this library could.
#include <gtest/gtest.h>

#include "misuses.h"

#if defined(__SANITIZE_ADDRESS__)

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

}  // namespace

#endif
