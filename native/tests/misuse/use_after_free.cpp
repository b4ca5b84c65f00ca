// A freed block is handed to a call that would not free it.
#include "expect.h"

using namespace misuse;

static void asks_for_size() {
  void* block = allocate_here(77);
  expect_address(block, 77);
  free_here(block);
  require(tp_usable_size(opaque(block)) == 0, "a freed block has a size");
}

int main() {
  return run<1>({{"size of a freed block", tp_misuse_double_free, asks_for_size, nullptr, site(allocate_here), site(free_here),
                  "use after free: tp_usable_size of"}});
}
