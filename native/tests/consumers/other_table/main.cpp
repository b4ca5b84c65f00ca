// Uses the inline headers: what they take for a size class must be one of the library.
#include <cstdio>

#include "tidepool/block.hpp"

int main() {
  int too_small = 0;
  for (std::size_t size = 1; size < 33000; size += 7) {
    void* block = tp::allocate(size);
    if (tp::usable_size(block) < size) ++too_small;
    tp::deallocate(block, size);
  }
  std::printf("%d blocks too small\n", too_small);
  return too_small != 0;
}
