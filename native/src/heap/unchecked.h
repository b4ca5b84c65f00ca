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

// A live block of old usable bytes; it stays on failure.
void* reallocate(void* block, size_t old, size_t size);

// The usable size of the block of a page that begins at an address; 0: none does, but a large one may. Inline: programs that
// count their memory ask when they take a block and when they free it.
inline size_t size_in_page(const void* address) {
  const Page* page = slice_with(address);
  if (page == nullptr) return 0;
  uint32_t slices_back = page->first;
  page -= slices_back;
  if (!page->is(PageKind::small)) return 0;
  auto in_slice = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address) & (slice_size - 1));
  uint32_t offset = slices_back << slice_shift | in_slice;
  bool is_start = offset < page->capacity * page->block_size && is_block_offset(offset, page->block_size, page->reciprocal);
  return is_start ? page->block_size : 0;
}

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
