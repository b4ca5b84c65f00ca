// The release library: a block is given back to a heap that it is not of.
#include "expect.h"

using namespace misuse;

static void* block;

static void other_heap() {
  block = tp_heap_malloc(tp_heap_create(nullptr), 72);
  expect_address(block, tp_usable_size(block));
  tp_heap_free(tp_heap_create(nullptr), opaque(block));
}

static void block_of_no_heap() {
  block = tp_malloc(72);
  expect_address(block, tp_usable_size(block));
  tp_heap_free(tp_heap_create(nullptr), opaque(block));
}

static void block_is_live() {
  tp_free(block);
  require(tp_is_valid(), "the heap is broken");
}

int main() {
  return run<2>({
      {"block of another heap", tp_misuse_heap_mismatch, other_heap, block_is_live, nullptr, nullptr, "heap"},
      {"block of no heap", tp_misuse_heap_mismatch, block_of_no_heap, block_is_live, nullptr, nullptr, "heap"},
  });
}
