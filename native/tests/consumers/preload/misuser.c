/* Knows nothing of the library. Without an argument it leaves a block behind; with one it writes past the end of it: an even
   byte, because those that the checked library puts there are odd. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char** arguments) {
  char* block = malloc(20);
  (void)arguments;
  if (block == NULL) return 1;
  memset(block, 2, count > 1 ? 21 : 20);
  puts("written");
  if (count > 1) free(block);
  return 0;
}
