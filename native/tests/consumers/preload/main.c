/* Knows nothing of the library. Exits 0 when what malloc and its relatives gave belongs to it. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  typedef _Bool (*owns_function)(const void*);
  owns_function owns;
  void* symbol = dlsym(RTLD_DEFAULT, "tp_owns");
  if (symbol == NULL) return 1;
  memcpy(&owns, &symbol, sizeof(owns));
  void* blocks[5];
  blocks[0] = malloc(100);
  blocks[1] = calloc(10, 100);
  blocks[2] = realloc(NULL, 5000);
  blocks[3] = aligned_alloc(64, 640);
  blocks[4] = strdup("from libc");
  for (int i = 0; i < 5; ++i) {
    if (!owns(blocks[i])) return 2 + i;
    free(blocks[i]);
  }
  void* aligned = NULL;
  if (posix_memalign(&aligned, 4096, 10000) != 0 || !owns(aligned)) return 7;
  free(aligned);
  puts("every block was the library's");
  return 0;
}
