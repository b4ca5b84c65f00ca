// The checked library's door to the heaps: memory by size, past all magazines, from a heap that it names.
#pragma once

#include "base/config.h"

namespace tp {
struct Heap;
}

namespace tp::check {

// Sets the process up (options, sampling, fork) when nothing was allocated yet.
void core_start();

// Allocates from the heap, or from the calling thread's when it is null. size is at most max_size / 2, alignment a power of two of at
// least 16. Null: out of memory or over a limit; errno is not set. Above most_core_bytes null is certain.
inline constexpr size_t most_core_bytes = size_t{1} << 40;
void* core_allocate(Heap* heap, size_t size, size_t alignment);
void core_free(void* memory);

// Purges idle pages to make room for an allocation that found no memory.
void core_purge();

// True for addresses in the memory of the arenas.
bool core_owns(const void* address);

Heap* core_create_heap(bool for_pool, const char* name, size_t limit);
void core_destroy_heap(Heap* heap);
size_t core_held_bytes(Heap* heap);

}  // namespace tp::check
