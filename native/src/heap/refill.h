// The pages of one heap: where its blocks come from, and where they go back to. Everything here needs the heap's lock.
#pragma once

#include "heap/heap.h"

namespace tp {

// Fills blocks[0..most), the best to rent first last; returns how many. Only for the first a new page is made, or memory used
// that went back to the system. 0: out of memory.
uint32_t take_blocks(Heap* heap, size_t bin, const Shape& shape, void** blocks, uint32_t most);

// After blocks came back to a page that may have been full, or may be empty now: moves it to where it belongs.
void requeue_page(Heap* heap, PageId id);

// Moves pages that other threads listed to their queues.
void drain_pending(Heap* heap);

// In the child of a fork: moves listed pages to their queues although no thread told the heap of them.
void relist_full_pages(Heap* heap);

// Takes what other threads gave back to all its queued pages, and releases empty ones.
void collect(Heap* heap, uint32_t now);
void collect_bin(Heap* heap, size_t bin, uint32_t now);  // after drain_pending

// Takes a page of the bin that has blocks to give out of the heap; 0: none. The lock of the heap that gets it is held, too.
PageId detach_page(Heap* heap, size_t bin);

// Gives the pages of one bin to the arenas, whoever has blocks of them.
void release_bin(Heap* heap, size_t bin);

// Gives every page and large block of the heap to the arenas, whoever has blocks of them.
void release_everything(Heap* heap);

}  // namespace tp
