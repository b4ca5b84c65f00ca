/* Loaded with RTLD_DEEPBIND. What it allocates the program frees, and the other way round, as PHP and its extensions do. */
#include <stdlib.h>
#include <string.h>

char* fresh(void);
char* fresh(void) { return calloc(1, 100); }

char* copy_of(char* text);
char* copy_of(char* text) {
  char* copy = malloc(strlen(text) + 1);
  if (copy != NULL) strcpy(copy, text);
  free(text);
  return copy;
}
