/* Loads the library at run time: loads <path>. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** arguments) {
  void* (*allocate)(size_t) = NULL;
  void (*release)(void*) = NULL;
  void *library, *symbol;
  int i;
  if (count != 2) return 2;
  library = dlopen(arguments[1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  symbol = dlsym(library, "tp_malloc");
  memcpy(&allocate, &symbol, sizeof(symbol));
  symbol = dlsym(library, "tp_free");
  memcpy(&release, &symbol, sizeof(symbol));
  if (allocate == NULL || release == NULL) return 4;
  for (i = 0; i < 10000; ++i) {
    char* block = allocate(100);
    if (block == NULL) return 5;
    memset(block, i, 100);
    release(block);
  }
  puts("loaded");
  return 0;
}
