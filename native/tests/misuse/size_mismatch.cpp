// A sized free names another size, or another alignment, than the allocation.
#include "expect.h"

using namespace misuse;

static void* block;

static void smaller() {
  block = allocate_here(64);
  expect_address(block, 64);
  tp_free_sized(opaque(block), 32);
}

// One size class serves both: only the exact record tells.
static void same_class() {
  block = allocate_here(30);
  expect_address(block, 30);
  tp_free_sized(opaque(block), 31);
}

[[gnu::noinline]] static void* allocate_aligned_here(size_t alignment, size_t size) {
  void* result = opaque(tp_aligned_alloc(alignment, size));
  keep_frame();
  return result;
}

static void other_alignment() {
  block = allocate_aligned_here(64, 100);
  expect_address(block, 100);
  tp_free_aligned_sized(opaque(block), 128, 100);
}

static void size_of_aligned() {
  block = allocate_aligned_here(4096, 5000);
  expect_address(block, 5000);
  tp_free_aligned_sized(opaque(block), 4096, 4096);
}

static void aligned_free_of_plain() {
  block = allocate_here(48);
  expect_address(block, 48);
  tp_free_aligned_sized(opaque(block), 1024, 48);
}

static void block_is_live() {
  size_t size = tp_usable_size(block);
  require(size == shared->size, "the block is gone");
  memset(block, 1, size);
  tp_free(block);
}

int main() {
  auto* at = site(allocate_here);
  auto* aligned_at = site(allocate_aligned_here);
  return run<5>({
      {"smaller size", tp_misuse_size_mismatch, smaller, block_is_live, at, nullptr, "with size 32"},
      {"size of the same class", tp_misuse_size_mismatch, same_class, block_is_live, at, nullptr, "with size 31"},
      {"other alignment", tp_misuse_size_mismatch, other_alignment, block_is_live, aligned_at, nullptr,
       "aligned to 64, with alignment 128"},
      {"size of an aligned block", tp_misuse_size_mismatch, size_of_aligned, block_is_live, aligned_at, nullptr, "with size 4096"},
      {"aligned free of a plain block", tp_misuse_size_mismatch, aligned_free_of_plain, block_is_live, at, nullptr, "with alignment 1024"},
  });
}
