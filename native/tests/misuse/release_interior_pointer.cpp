// The release library: a pointer that is not aligned to 16 bytes is found at once; one into the middle of a block when the
// block would go back to its page.
#include "expect.h"

#include <vector>

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

// 96 bytes into one of 112 no block begins.
static void asked_for_its_size() {
  block = static_cast<char*>(allocate_here(112));
  expect_address(block + 96, tp_usable_size(block));
  require(tp_usable_size(opaque(block + 96)) == 0, "the place has a size");
}

// The page of blocks of 3072 bytes has several slices of 64 KiB, and no block begins where a slice but the first does.
static void asked_for_the_size_of_a_later_slice() {
  std::vector<void*> blocks;
  do {
    require(blocks.size() < 1000, "no block lies across the end of a slice");
    block = static_cast<char*>(allocate_here(3072));
    blocks.push_back(block);
  } while (reinterpret_cast<uintptr_t>(block) % 65536 < 65536 - 3072 + 16);
  char* slice = block + 65536 - reinterpret_cast<uintptr_t>(block) % 65536;
  expect_address(slice, tp_usable_size(block));
  require(tp_usable_size(opaque(slice)) == 0, "the place has a size");
  blocks.pop_back();
  for (void* other : blocks) tp_free(other);
}

static void resized() {
  block = static_cast<char*>(allocate_here(112));
  expect_address(block + 48, tp_usable_size(block));
  require(tp_realloc(opaque(block + 48), 500) == nullptr, "realloc of an interior pointer gave a block");
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
  const char* size = "size of an interior pointer";
  return run<11>({
      {"misaligned by one", tp_misuse_interior_pointer, by_one, block_is_live, nullptr, nullptr, text},
      {"misaligned by eight", tp_misuse_interior_pointer, by_eight, block_is_live, nullptr, nullptr, text},
      {"last byte", tp_misuse_interior_pointer, at_the_end, block_is_live, nullptr, nullptr, text},
      {"into a large block", tp_misuse_interior_pointer, of_a_large_block, block_is_live, nullptr, nullptr, text},
      {"a later slice of a large block", tp_misuse_interior_pointer, of_a_large_block_aligned, block_is_live, nullptr, nullptr, text},
      {"size of what begins no block", tp_misuse_interior_pointer, asked_for_its_size, block_is_live, nullptr, nullptr, size},
      {"size of a later slice of a page", tp_misuse_interior_pointer, asked_for_the_size_of_a_later_slice, block_is_live, nullptr, nullptr,
       size},
      {"realloc of what begins no block", tp_misuse_interior_pointer, resized, block_is_live, nullptr, nullptr, "realloc of an interior"},
      {"misaligned in a sized free", tp_misuse_interior_pointer, sized, block_is_live, nullptr, nullptr, text},
      {"aligned, found when the block goes back", tp_misuse_interior_pointer, aligned, nullptr, nullptr, nullptr, text},
      {"behind the last block, found when it goes back", tp_misuse_interior_pointer, behind_the_last_block, block_is_live, nullptr, nullptr,
       text},
  });
}
