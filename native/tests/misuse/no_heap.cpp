// What is passed as a heap or pool is none.
#include "expect.h"

using namespace misuse;

static char bytes[256];

static void static_bytes_as_heap() {
  auto* heap = reinterpret_cast<tp_heap*>(opaque(bytes));
  expect_address(heap, 0);
  require(tp_heap_malloc(heap, 10) == nullptr, "gave a block");
}

static void block_as_pool() {
  auto* pool = static_cast<tp_pool*>(opaque(tp_malloc(200)));
  expect_address(pool, 0);
  require(tp_pool_rent(pool) == nullptr, "gave a block");
}

static void null_as_heap() {
  expect_address(nullptr, 0);
  require(tp_heap_malloc(nullptr, 10) == nullptr, "gave a block");
}

int main() {
  return run<3>({
      {"static bytes as heap", tp_misuse_foreign_pointer, static_bytes_as_heap, nullptr, nullptr, nullptr, "which is no heap"},
      {"a block as pool", tp_misuse_foreign_pointer, block_as_pool, nullptr, nullptr, nullptr, "which is no pool"},
      {"null as heap", tp_misuse_foreign_pointer, null_as_heap, nullptr, nullptr, nullptr, "which is no heap"},
  });
}
