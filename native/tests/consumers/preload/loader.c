/* Loads plugin.so by its name alone, from this program's RUNPATH, with RTLD_DEEPBIND, and exchanges blocks with it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char* (*fresh)(void);
  char* (*copy_of)(char*);
  char* text;
  void* symbol;
  void* plugin = dlopen("plugin.so", RTLD_NOW | RTLD_DEEPBIND);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  symbol = dlsym(plugin, "fresh");
  memcpy(&fresh, &symbol, sizeof(symbol));
  symbol = dlsym(plugin, "copy_of");
  memcpy(&copy_of, &symbol, sizeof(symbol));
  free(fresh());
  text = malloc(100);
  if (text == NULL) return 3;
  strcpy(text, "text");
  text = copy_of(text);
  if (text == NULL || strcmp(text, "text") != 0) return 4;
  free(text);
  return 0;
}
