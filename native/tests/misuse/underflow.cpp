// Bytes in front of the block are written.
#include "expect.h"

using namespace misuse;

static char* block;
static char spoilt;

static void spoil(size_t size) {
  block = static_cast<char*>(allocate_here(size));
  expect_address(block, size);
  spoilt = opaque(block)[-1];
  opaque(block)[-1] = 0;
}

static void small() {
  spoil(40);
  tp_free(block);
}

static void large() {
  spoil(size_t{1} << 20);
  tp_free(block);
}

static void by_validation() {
  spoil(200);
  require(!tp_is_valid(), "the heap is valid");
}

static void block_is_live() {
  block[-1] = spoilt;
  tp_free(block);
  require(tp_is_valid(), "the heap is broken");
}

int main() {
  auto* at = site(allocate_here);
  const char* text = "overflow: the bytes before";
  return run<3>({
      {"of a small block", tp_misuse_overflow, small, block_is_live, at, nullptr, text},
      {"of a large block", tp_misuse_overflow, large, block_is_live, at, nullptr, "offset -1"},
      {"found by tp_is_valid", tp_misuse_overflow, by_validation, block_is_live, at, nullptr, text},
  });
}
