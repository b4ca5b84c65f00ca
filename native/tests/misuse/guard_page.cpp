// With the option guard_rate, a block ends at a page that cannot be accessed: reads past its end, and any access after it
// was freed, are found where they happen.
#include "expect.h"

using namespace misuse;

static volatile char sink;

static void reads_past_end() {
  char* block = static_cast<char*>(allocate_here(64));
  expect_address(block, 64);
  sink = opaque(block)[64];
}

static void writes_past_end() {
  char* block = static_cast<char*>(allocate_here(10000 / 16 * 16));
  expect_address(block, 10000 / 16 * 16);
  opaque(block)[10000] = 1;
}

static void far_past_end() {
  char* block = static_cast<char*>(allocate_here(48));
  expect_address(block, 48);
  sink = opaque(block)[1048];
}

static void reads_freed() {
  char* block = static_cast<char*>(allocate_here(100));
  expect_address(block, 100);
  free_here(block);
  sink = opaque(block)[50];
}

static void writes_freed() {
  char* block = static_cast<char*>(allocate_here(100));
  expect_address(block, 100);
  free_here(block);
  opaque(block)[99] = 1;
}

int main() {
  auto* at = site(allocate_here);
  auto* freed = site(free_here);
  return run<5>({
      {"read past the end", tp_misuse_overflow, reads_past_end, nullptr, at, nullptr, "at offset 64", 1},
      {"write past the end", tp_misuse_overflow, writes_past_end, nullptr, at, nullptr, "past the end of", 1},
      {"read far past the end", tp_misuse_overflow, far_past_end, nullptr, at, nullptr, "at offset 1048", 1},
      {"read of a freed block", tp_misuse_write_after_free, reads_freed, nullptr, at, freed, "at offset 50", 1},
      {"write to a freed block", tp_misuse_write_after_free, writes_freed, nullptr, at, freed, "at offset 99", 1},
  });
}
