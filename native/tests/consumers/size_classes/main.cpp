// Built against a library with a table of its own: the inline headers and the library must agree on it.
#include <cstdio>

#include "tidepool/tidepool.hpp"

int main() {
  if (tp_class_count() != tp::detail::class_count || tp_class_count() != 15) return 1;
  for (std::size_t i = 0; i < tp_class_count(); ++i) {
    if (tp_class_size(i) != tp::detail::class_sizes[i]) return 2;
  }
  if (tp_good_size(200) != 208 || tp_good_size(1500) != 1536 || tp_good_size(209) != 256) return 3;
  // Over-aligned blocks take a class that has the alignment, also in a table where few do.
  for (int i = 0; i < 100; ++i) {
    void* block = tp::allocate<200, 64>();
    if (reinterpret_cast<std::uintptr_t>(block) % 64 != 0) return 4;
    tp::deallocate<200, 64>(block);
  }
  for (std::size_t size = 1; size < 40000; size += 37) {
    void* block = tp::allocate(size);
    if (tp::usable_size(block) < size) return 5;
    tp::deallocate(block, size);
  }
  if (!tp_is_valid()) return 6;
  std::puts("headers and library share the table");
}
