// Blocks without checks: what the entry points of tidepool.h call in the release library, and what the checked layer
// builds on. Nothing here reports misuse, but for what flush() finds.
#pragma once

#include "heap/heap.h"

namespace tp::unchecked {

// From the calling thread's heap. alignment 0 or a power of two up to max_alignment. Null: out of memory (errno unset).
void* allocate(size_t size, size_t alignment, bool zero);

// From an explicit heap.
void* allocate_in(Heap* heap, size_t size, size_t alignment, bool zero);

// A live block of any kind, not null.
void free(void* block);

// A live block; the old one stays on failure.
void* reallocate(void* block, size_t size);

size_t usable_size(const void* block);

// A block of any kind.
struct Block {
  void* start;     // null: no page or large block that is in use
  size_t size;     // usable
  PageId id;
  Heap* owner;
};
// Finds the block that lies at an address.
Block find(const void* address);

// Returns the size of the class or of the slices that serve this; 0: none do.
size_t good_size(size_t size);

}  // namespace tp::unchecked
