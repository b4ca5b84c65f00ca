// A pointer into a block, or just in front of it, is freed.
#include "expect.h"

using namespace misuse;

static char* block;

static void aligned() {
  block = static_cast<char*>(allocate_here(200));
  expect_address(block + 32, 200);
  tp_free(opaque(block + 32));
}

static void misaligned() {
  block = static_cast<char*>(allocate_here(200));
  expect_address(block + 1, 200);
  tp_free(opaque(block + 1));
}

static void in_front() {
  block = static_cast<char*>(allocate_here(200));
  expect_address(block - 8, 200);
  tp_free(opaque(block - 8));
}

static void of_a_large_block() {
  block = static_cast<char*>(allocate_here(size_t{1} << 20));
  expect_address(block + 500000, size_t{1} << 20);
  tp_free(opaque(block + 500000));
}


static void size_asked() {
  block = static_cast<char*>(allocate_here(200));
  expect_address(block + 64, 200);
  require(tp_usable_size(opaque(block + 64)) == 0, "the middle of a block has a size");
}

static void block_is_live() {
  memset(block, 1, 200);
  require(tp_usable_size(block) >= 200, "the block is gone");
  tp_free(block);
}

int main() {
  auto* at = site(allocate_here);
  return run<5>({
      {"free into a block", tp_misuse_interior_pointer, aligned, block_is_live, at, nullptr, "32 bytes into"},
      {"free of a misaligned pointer", tp_misuse_interior_pointer, misaligned, block_is_live, at, nullptr, "1 bytes into"},
      {"free in front of a block", tp_misuse_interior_pointer, in_front, block_is_live, at, nullptr, "8 bytes before"},
      {"free into a large block", tp_misuse_interior_pointer, of_a_large_block, block_is_live, at, nullptr, "500000 bytes into"},
      {"size of the middle of a block", tp_misuse_interior_pointer, size_asked, block_is_live, at, nullptr, "tp_usable_size"},
  });
}
