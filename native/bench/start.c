/* The smallest C program that allocates: what an allocator makes resident before it has done anything. Prints the resident
 * anonymous memory of the process in KiB. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  static char text[8192];
  char* block = malloc(100);
  if (block == NULL) return 3;
  memset(block, 1, 100);
  int file = open("/proc/self/smaps_rollup", O_RDONLY);
  ssize_t length = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
  const char* line = length > 0 ? strstr(text, "\nAnonymous:") : NULL;
  if (line == NULL) return 3;
  /* By write: a stream would allocate, which is no part of the question. */
  long kib = strtol(line + strlen("\nAnonymous:"), NULL, 10);
  char answer[64];
  int size = snprintf(answer, sizeof(answer), "anonymous_KiB %ld\n", kib);
  free(block);
  return write(1, answer, (size_t)size) == size ? 0 : 3;
}
