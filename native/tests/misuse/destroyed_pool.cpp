// A pool is used, or a block of it given back, after the pool was destroyed.
#include "expect.h"

using namespace misuse;

static tp_pool* make_pool() {
  tp_pool_options options{};
  options.struct_size = sizeof(options);
  options.name = "particles";
  options.block_size = 48;
  return tp_pool_create(&options);
}

static tp_pool* make_destroyed() {
  tp_pool* pool = make_pool();
  tp_pool_destroy(pool);
  expect_address(pool, 0);
  return opaque(pool);
}

static void rents() { require(tp_pool_rent(make_destroyed()) == nullptr, "a destroyed pool gave a block"); }
static void destroys_again() { tp_pool_destroy(make_destroyed()); }
static void asks() { require(tp_pool_block_size(make_destroyed()) == 0, "a destroyed pool has a block size"); }

static void returns() {
  tp_pool* pool = make_pool();
  void* block = tp_pool_rent(pool);
  tp_pool_destroy(pool);
  expect_address(pool, 0);
  tp_pool_return(opaque(pool), block);
}

static void frees_block() {
  tp_pool* pool = make_pool();
  void* block = tp_pool_rent(pool);
  tp_pool_destroy(pool);
  expect_address(block, 48);
  tp_free(opaque(block));
}

int main() {
  return run<5>({
      {"rent", tp_misuse_destroyed_heap, rents, nullptr, nullptr, nullptr, "'particles'"},
      {"destroy again", tp_misuse_destroyed_heap, destroys_again, nullptr, nullptr, nullptr, "tp_pool_destroy"},
      {"ask for its block size", tp_misuse_destroyed_heap, asks, nullptr, nullptr, nullptr, "tp_pool_block_size"},
      {"return a block", tp_misuse_destroyed_heap, returns, nullptr, nullptr, nullptr, "tp_pool_return"},
      {"free a block of it", tp_misuse_destroyed_heap, frees_block, nullptr, nullptr, nullptr, "whose heap or pool is destroyed"},
  });
}
