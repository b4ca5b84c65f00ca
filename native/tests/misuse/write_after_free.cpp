// A block is written to after it was freed: found when it leaves quarantine, by tp_is_valid, and at exit.
#include "expect.h"

using namespace misuse;

static void spoil(size_t size, size_t offset) {
  char* block = static_cast<char*>(allocate_here(size));
  expect_address(block, size);
  free_here(block);
  opaque(block)[offset] = 1;
}

// More is freed than the quarantine holds, and the block has to leave it.
static void on_leaving() {
  spoil(120, 8);
  for (int i = 0; i < 80000; ++i) tp_free(tp_malloc(16));
}

static void on_leaving_by_bytes() {
  spoil(120, 8);
  for (int i = 0; i < 64; ++i) tp_free(tp_malloc(size_t{1} << 20));
}

static void by_validation() {
  spoil(64, 63);
  require(!tp_is_valid(), "the heap is valid");
}

static void by_purge() {
  spoil(1000, 0);
  tp_purge(0);
}

static void at_exit() { spoil(5000, 4999); }

static void in_pool() {
  tp_pool_options options{};
  options.struct_size = sizeof(options);
  options.block_size = 80;
  tp_pool* pool = tp_pool_create(&options);
  char* block = static_cast<char*>(tp_pool_rent(pool));
  expect_address(block, 80);
  tp_pool_return(pool, block);
  opaque(block)[40] = 1;
  require(!tp_is_valid(), "the heap is valid");
}

static void in_destroyed_heap() {
  tp_heap* heap = tp_heap_create(nullptr);
  char* block = static_cast<char*>(tp_heap_malloc(heap, 80));
  expect_address(block, 80);
  tp_heap_free(heap, block);
  opaque(block)[3] = 1;
  tp_heap_destroy(heap);
}

// Secrets are overwritten with zeros, and a write shows in these as well.
static void in_wiped_heap() {
  tp_heap_options options{};
  options.struct_size = sizeof(options);
  options.zero_on_free = true;
  tp_heap* heap = tp_heap_create(&options);
  char* block = static_cast<char*>(tp_heap_malloc(heap, 80));
  memset(block, 7, 80);
  expect_address(block, 80);
  tp_heap_free(heap, block);
  for (int i = 0; i < 80; ++i) require(opaque(block)[i] == 0, "the secret is still there");
  opaque(block)[79] = 1;
  require(!tp_is_valid(), "the heap is valid");
}

// Reported once; its memory is used no more, so that the next owner is not harmed.
static void not_used_again() {
  for (int i = 0; i < 1000; ++i) {
    void* block = tp_malloc(shared->size);
    require(block != shared->address, "the damaged block was handed out");
  }
}

int main() {
  auto* at = site(allocate_here);
  auto* freed = site(free_here);
  return run<8>({
      {"found on leaving quarantine", tp_misuse_write_after_free, on_leaving, not_used_again, at, freed, "offset 8"},
      {"found on leaving quarantine for its bytes", tp_misuse_write_after_free, on_leaving_by_bytes, not_used_again, at, freed, "offset 8"},
      {"found by tp_is_valid", tp_misuse_write_after_free, by_validation, not_used_again, at, freed, "offset 63"},
      {"found by tp_purge", tp_misuse_write_after_free, by_purge, not_used_again, at, freed, "found by tp_purge"},
      {"found at exit", tp_misuse_write_after_free, at_exit, nullptr, at, freed, "found by exit"},
      {"in a pool", tp_misuse_write_after_free, in_pool, nullptr, nullptr, nullptr, "offset 40"},
      {"found by tp_heap_destroy", tp_misuse_write_after_free, in_destroyed_heap, nullptr, nullptr, nullptr, "offset 3"},
      {"in a heap that wipes", tp_misuse_write_after_free, in_wiped_heap, nullptr, nullptr, nullptr, "offset 79"},
  });
}
