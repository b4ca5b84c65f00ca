// The release library: the block that this thread freed last is freed again.
#include "expect.h"

using namespace misuse;

static void twice(size_t size) {
  void* block = allocate_here(size);
  expect_address(block, tp_usable_size(block));
  tp_free(opaque(block));
  tp_free(opaque(block));
}

static void small() { twice(16); }
static void medium() { twice(1000); }
static void largest_class() { twice(32768); }

static void sized() {
  void* block = allocate_here(64);
  expect_address(block, tp_usable_size(block));
  tp_free_sized(opaque(block), 64);
  tp_free_sized(opaque(block), 64);
}

static void among_live_blocks() {
  void* others[64];
  for (void*& other : others) other = tp_malloc(200);
  twice(200);
  for (void* other : others) tp_free(other);
}

static void blocks_are_distinct() {
  void* blocks[32];
  for (void*& block : blocks) block = tp_malloc(shared->size);
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < i; ++j) require(blocks[i] != blocks[j], "one block was handed out twice");
  }
  for (void* block : blocks) tp_free(block);
  require(tp_is_valid(), "the heap is broken");
}

int main() {
  const char* text = "double free";
  return run<5>({
      {"small block", tp_misuse_double_free, small, blocks_are_distinct, nullptr, nullptr, text},
      {"medium block", tp_misuse_double_free, medium, blocks_are_distinct, nullptr, nullptr, text},
      {"block of the largest class", tp_misuse_double_free, largest_class, blocks_are_distinct, nullptr, nullptr, text},
      {"sized", tp_misuse_double_free, sized, blocks_are_distinct, nullptr, nullptr, text},
      {"among live blocks", tp_misuse_double_free, among_live_blocks, blocks_are_distinct, nullptr, nullptr, text},
  });
}
