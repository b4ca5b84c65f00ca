/* C has no inline paths: the table is the library's business alone. */
#include <stdio.h>
#include <tidepool/tidepool.h>

int main(void) {
  int too_small = 0;
  size_t size;
  for (size = 1; size < 33000; size += 7) {
    void* block = tp_malloc(size);
    if (tp_usable_size(block) < size) ++too_small;
    tp_free_sized(block, size);
  }
  printf("%d blocks too small\n", too_small);
  return too_small != 0;
}
