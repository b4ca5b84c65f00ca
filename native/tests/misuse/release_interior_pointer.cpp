// The release library: a pointer that is not aligned to 16 bytes is found at once; one into the middle of a block when the
// block would go back to its page.
#include "expect.h"

using namespace misuse;

static char* block;

static void misaligned_by(size_t offset, size_t size) {
  block = static_cast<char*>(allocate_here(size));
  expect_address(block + offset, tp_usable_size(block));
  tp_free(opaque(block + offset));
}

static void by_one() { misaligned_by(1, 96); }
static void by_eight() { misaligned_by(8, 96); }
static void at_the_end() { misaligned_by(95, 96); }
static void of_a_large_block() { misaligned_by(100001, 1000000); }
static void of_a_large_block_aligned() { misaligned_by(65536, 1000000); }

static void sized() {
  block = static_cast<char*>(allocate_here(96));
  expect_address(block + 4, tp_usable_size(block));
  tp_free_sized(opaque(block + 4), 96);
}

// 112 bytes: 16 and 96 are both multiples of 16, and neither begins a block. tp_thread_idle empties the thread's lists.
static void aligned() {
  block = static_cast<char*>(allocate_here(112));
  expect_address(block + 48, tp_usable_size(block));
  tp_free(opaque(block + 48));
  tp_thread_idle();
}

// 64 KiB are 1365 blocks of 48 bytes: a block behind them would reach into the next page.
static void behind_the_last_block() {
  block = static_cast<char*>(allocate_here(48));
  char* last = block - reinterpret_cast<uintptr_t>(block) % 65536 + 1365 * 48;
  expect_address(last, 48);
  tp_free(opaque(last));
  tp_thread_idle();
}

// Neither 16 nor 96 bytes into one of 112 begins a block.
static void asked_for_its_size() {
  block = static_cast<char*>(allocate_here(112));
  expect_address(block + 96, tp_usable_size(block));
  require(tp_usable_size(opaque(block + 96)) == 0, "the place has a size");
}

static void block_is_live() {
  void* other = tp_malloc(tp_usable_size(block));
  require(other != block, "the block was handed out twice");
  tp_free(other);
  tp_free(block);
  require(tp_is_valid(), "the heap is broken");
}

int main() {
  const char* text = "interior pointer";
  return run<9>({
      {"misaligned by one", tp_misuse_interior_pointer, by_one, block_is_live, nullptr, nullptr, text},
      {"misaligned by eight", tp_misuse_interior_pointer, by_eight, block_is_live, nullptr, nullptr, text},
      {"last byte", tp_misuse_interior_pointer, at_the_end, block_is_live, nullptr, nullptr, text},
      {"into a large block", tp_misuse_interior_pointer, of_a_large_block, block_is_live, nullptr, nullptr, text},
      {"a later slice of a large block", tp_misuse_interior_pointer, of_a_large_block_aligned, block_is_live, nullptr, nullptr, text},
      {"size of what begins no block", tp_misuse_interior_pointer, asked_for_its_size, block_is_live, nullptr, nullptr, text},
      {"misaligned in a sized free", tp_misuse_interior_pointer, sized, block_is_live, nullptr, nullptr, text},
      {"aligned, found when the block goes back", tp_misuse_interior_pointer, aligned, nullptr, nullptr, nullptr, text},
      {"behind the last block, found when it goes back", tp_misuse_interior_pointer, behind_the_last_block, block_is_live, nullptr, nullptr,
       text},
  });
}
