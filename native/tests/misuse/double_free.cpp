// A block is freed twice: at once, after other frees, and after its memory went back.
#include "expect.h"

using namespace misuse;

static void* block;

static void at_once() {
  block = allocate_here(40);
  expect_address(block, 40);
  free_here(block);
  tp_free(opaque(block));
}

static void after_others() {
  block = allocate_here(3000);
  expect_address(block, 3000);
  free_here(block);
  for (int i = 0; i < 100; ++i) tp_free(tp_malloc(3000));
  tp_free(opaque(block));
}

// tp_purge lets everything out of quarantine; the address is remembered nevertheless.
static void after_quarantine() {
  block = allocate_here(100);
  expect_address(block, 100);
  free_here(block);
  tp_purge(0);
  tp_free(opaque(block));
}

static void large() {
  block = allocate_here(size_t{20} << 20);
  expect_address(block, size_t{20} << 20);
  free_here(block);
  tp_free(opaque(block));
}

static void sized() {
  block = allocate_here(24);
  expect_address(block, 24);
  free_here(block);
  tp_free_sized(opaque(block), 24);
}

static void reallocated() {
  block = allocate_here(64);
  expect_address(block, 64);
  free_here(block);
  void* moved = tp_realloc(opaque(block), 128);
  require(moved == nullptr, "realloc of a freed block gave a block");
}

// The heap must be sound afterwards: no block is handed out twice.
static void blocks_are_distinct() {
  void* first = tp_malloc(40);
  void* second = tp_malloc(40);
  require(first != second, "one block was handed out twice");
  tp_free(first);
  tp_free(second);
  require(tp_is_valid(), "the heap is broken");
}

int main() {
  auto* allocated = site(allocate_here);
  auto* freed = site(free_here);
  return run<6>({
      {"double free at once", tp_misuse_double_free, at_once, blocks_are_distinct, allocated, freed, "double free: tp_free of"},
      {"double free after others", tp_misuse_double_free, after_others, blocks_are_distinct, allocated, freed},
      {"double free after quarantine", tp_misuse_double_free, after_quarantine, blocks_are_distinct, allocated, freed},
      {"double free of a large block", tp_misuse_double_free, large, blocks_are_distinct, allocated, freed},
      {"double free with a size", tp_misuse_double_free, sized, blocks_are_distinct, allocated, freed, "tp_free_sized"},
      {"realloc of a freed block", tp_misuse_double_free, reallocated, blocks_are_distinct, allocated, freed, "tp_realloc"},
  });
}
