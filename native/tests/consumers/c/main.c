/* Plain C: blocks, a pool, a heap, statistics, and what happens at the limits. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tidepool/tidepool.h"

static int blocks(void) {
  void* batch[100];
  size_t got, i;
  char* text = tp_malloc(100);
  volatile size_t too_many = SIZE_MAX / 2; /* the compiler warns about what it sees must fail */
  if (text == NULL || tp_usable_size(text) < 100) return 1;
  strcpy(text, "kept by realloc");
  text = tp_realloc(text, 100000);
  if (text == NULL || strcmp(text, "kept by realloc") != 0) return 2;
  tp_free(text);
  got = tp_malloc_batch(64, 100, batch);
  if (got != 100) return 3;
  for (i = 0; i < got; ++i) memset(batch[i], (int)i, 64);
  for (i = 0; i < got; ++i) {
    if (((unsigned char*)batch[i])[63] != i) return 4;
  }
  tp_free_batch(batch, got);
  text = tp_aligned_zalloc(64, 1000);
  if (text == NULL || (uintptr_t)text % 64 != 0 || text[999] != 0) return 5;
  tp_free_aligned_sized(text, 64, 1000);
  errno = 0;
  if (tp_calloc(too_many, 4) != NULL || errno != ENOMEM) return 6;
  return 0;
}

static int pool_and_heap(void) {
  tp_pool_options pool_options = {0};
  tp_heap_options heap_options = {0};
  tp_pool* pool;
  tp_heap* heap;
  size_t live = 1, held = 0, i;
  void* block;

  pool_options.struct_size = sizeof(pool_options);
  pool_options.name = "points";
  pool_options.block_size = 24;
  pool = tp_pool_create(&pool_options);
  if (pool == NULL) return 10;
  block = tp_pool_rent(pool);
  if (block == NULL) return 11;
  memset(block, 1, tp_pool_block_size(pool));
  tp_pool_return(pool, block);
  tp_pool_usage(pool, &live, NULL);
  if (live != 0) return 12;
  tp_pool_destroy(pool);

  heap_options.struct_size = sizeof(heap_options);
  heap_options.limit = (size_t)1 << 20;
  heap = tp_heap_create(&heap_options);
  if (heap == NULL) return 13;
  for (i = 0; (block = tp_heap_malloc(heap, 10000)) != NULL; ++i) memset(block, 1, 10000);
  tp_heap_usage(heap, &live, &held);
  if (i < 50 || i > 104 || held > heap_options.limit || live < i * 10000) return 14;
  tp_heap_destroy(heap);
  return 0;
}

int main(void) {
  tp_statistics statistics = {0};
  int failed = blocks();
  if (failed == 0) failed = pool_and_heap();
  if (failed != 0) return failed;
  statistics.struct_size = sizeof(statistics);
  tp_get_statistics(&statistics);
  if (statistics.heaps != 0 || statistics.pools != 0 || statistics.os_calls == 0) return 20;
  puts("plain C works");
  return 0;
}
