// A block is given back to a heap or pool that it is not of.
#include "expect.h"

using namespace misuse;

static void* block;

static tp_heap* make_heap(const char* name) {
  tp_heap_options options{};
  options.struct_size = sizeof(options);
  options.name = name;
  return tp_heap_create(&options);
}

static tp_pool* make_pool(const char* name, size_t block_size) {
  tp_pool_options options{};
  options.struct_size = sizeof(options);
  options.name = name;
  options.block_size = block_size;
  return tp_pool_create(&options);
}

static void other_heap() {
  block = tp_heap_malloc(make_heap("left"), 72);
  expect_address(block, 72);
  tp_heap_free(make_heap("right"), opaque(block));
}

static void block_of_no_heap() {
  block = allocate_here(50);
  expect_address(block, 50);
  tp_heap_free(make_heap("scene"), opaque(block));
}

static void other_pool() {
  block = tp_pool_rent(make_pool("orders", 96));
  expect_address(block, 96);
  tp_pool_return(make_pool("trades", 96), opaque(block));
}

static void malloc_to_pool() {
  block = allocate_here(96);
  expect_address(block, 96);
  tp_pool_return(make_pool("orders", 96), opaque(block));
}

static void heap_to_pool() {
  block = tp_heap_malloc(make_heap("scene"), 96);
  expect_address(block, 96);
  tp_pool_return(make_pool("orders", 96), opaque(block));
}

static void block_is_live() {
  require(tp_usable_size(block) == shared->size, "the block is gone");
  tp_free(block);
}

static tp_pool* pool;

static void pool_as_heap() {
  pool = make_pool("orders", 96);
  expect_address(pool, 0);
  require(tp_heap_malloc(reinterpret_cast<tp_heap*>(pool), 10) == nullptr, "a pool gave a block as a heap");
}

static void pool_works() {
  void* rented = tp_pool_rent(pool);
  require(rented != nullptr, "the pool is gone");
  tp_pool_return(pool, rented);
}

int main() {
  return run<6>({
      {"block of another heap", tp_misuse_heap_mismatch, other_heap, block_is_live, nullptr, nullptr, "'left'"},
      {"block of no heap", tp_misuse_heap_mismatch, block_of_no_heap, block_is_live, site(allocate_here), nullptr, "no heap"},
      {"block of another pool", tp_misuse_heap_mismatch, other_pool, block_is_live, nullptr, nullptr, "'trades'"},
      {"block of no pool", tp_misuse_heap_mismatch, malloc_to_pool, block_is_live, site(allocate_here), nullptr, "'orders'"},
      {"block of a heap to a pool", tp_misuse_heap_mismatch, heap_to_pool, block_is_live, nullptr, nullptr, "'scene'"},
      {"pool used as heap", tp_misuse_heap_mismatch, pool_as_heap, pool_works, nullptr, nullptr, "'orders'"},
  });
}
