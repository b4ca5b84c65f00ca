// Bytes behind the block are written.
#include "expect.h"

using namespace misuse;

static char* block;
static char spoilt;
static size_t spoilt_at;

static void write_at(size_t size, size_t offset, char value) {
  block = static_cast<char*>(allocate_here(size));
  expect_address(block, size);
  spoilt_at = offset;
  spoilt = opaque(block)[offset];
  opaque(block)[offset] = value;
}

static void by_one() {
  write_at(30, 30, 'x');
  tp_free(block);
}

// The string that did not count its terminating zero.
static void by_zero_byte() {
  write_at(32, 32, 0);
  tp_free(block);
}

static void of_a_page() {
  write_at(4096, 4096, 0);
  tp_free(block);
}

static void of_a_large_block() {
  write_at(size_t{3} << 20, size_t{3} << 20, 0);
  tp_free(block);
}

static void of_nothing() {
  write_at(0, 0, 0);
  tp_free(block);
}

static void by_validation() {
  write_at(100, 100, 0);
  require(!tp_is_valid(), "the heap is valid");
}

static void by_realloc() {
  write_at(100, 103, 0);
  require(tp_realloc(block, 500) == nullptr, "a damaged block was moved");
}

static void by_sized_free() {
  write_at(17, 17, 0);
  tp_free_sized(block, 17);
}

static void of_aligned() {
  block = static_cast<char*>(opaque(tp_aligned_alloc(256, 300)));
  expect_address(block, 300);
  spoilt_at = 300;
  spoilt = opaque(block)[300];
  opaque(block)[300] = 0;
  tp_free_aligned_sized(block, 256, 300);
}

static char spoilt_bytes[12];

static void by_many_bytes() {
  block = static_cast<char*>(allocate_here(64));
  expect_address(block, 64);
  memcpy(spoilt_bytes, opaque(block) + 64, sizeof(spoilt_bytes));
  memset(opaque(block) + 64, 0, sizeof(spoilt_bytes));
  tp_free(block);
}

static void many_bytes_put_right() {
  memcpy(opaque(block) + 64, spoilt_bytes, sizeof(spoilt_bytes));
  tp_free(block);
}

// The call has done nothing: with the byte put right, the block is as live as it was.
static void block_is_live() {
  block[spoilt_at] = spoilt;
  require(tp_usable_size(block) == shared->size, "the block is gone");
  tp_free(block);
  require(tp_is_valid(), "the heap is broken");
}

int main() {
  auto* at = site(allocate_here);
  const char* text = "overflow: the bytes behind";
  return run<10>({
      {"by one byte", tp_misuse_overflow, by_one, block_is_live, at, nullptr, "offset 30"},
      {"by a terminating zero", tp_misuse_overflow, by_zero_byte, block_is_live, at, nullptr, "offset 32"},
      {"of a page", tp_misuse_overflow, of_a_page, block_is_live, at, nullptr, text},
      {"of a large block", tp_misuse_overflow, of_a_large_block, block_is_live, at, nullptr, text},
      {"of an empty block", tp_misuse_overflow, of_nothing, block_is_live, at, nullptr, "offset 0"},
      {"found by tp_is_valid", tp_misuse_overflow, by_validation, block_is_live, at, nullptr, "found by tp_is_valid"},
      {"found by tp_realloc", tp_misuse_overflow, by_realloc, block_is_live, at, nullptr, "offset 103; found by tp_realloc"},
      {"found by a sized free", tp_misuse_overflow, by_sized_free, block_is_live, at, nullptr, "found by tp_free_sized"},
      {"of an aligned block", tp_misuse_overflow, of_aligned, block_is_live, nullptr, nullptr, "offset 300"},
      {"by many bytes", tp_misuse_overflow, by_many_bytes, many_bytes_put_right, at, nullptr, "offset 64"},
  });
}
