// Takes blocks from the pages of one heap, and keeps each page in the list where it belongs. The heap's lock is held.
#pragma once

#include "heap/heap.h"

namespace tp {

// Fills blocks[0..most), the best to rent first last; returns how many. Makes a new page, or uses memory that went back to the
// system, for the first block only. 0: out of memory.
uint32_t take_blocks(Heap* heap, size_t bin, const Shape& shape, void** blocks, uint32_t most);

// Moves a page to the list where it belongs, after blocks came back to it: it may have been full, or may be empty now.
void requeue_page(Heap* heap, PageId id);

// Moves pages that other threads listed to their queues.
void drain_pending(Heap* heap);

// Moves listed pages to their queues, in the child of a fork, where the thread that would have told the heap is missing.
void relist_full_pages(Heap* heap);

// Takes the blocks that other threads gave back to its queued pages, and releases empty pages.
void collect(Heap* heap, uint32_t now);
void collect_bin(Heap* heap, size_t bin, uint32_t now);  // after drain_pending

// Removes a page of the bin that has blocks to give from the heap; 0: none. The lock of the heap that gets it is held, too.
PageId detach_page(Heap* heap, size_t bin);

// Gives the pages of one bin to the arenas, with all blocks that are out.
void release_bin(Heap* heap, size_t bin);

// Gives every page and large block of the heap to the arenas, with all blocks that are out.
void release_everything(Heap* heap);

}  // namespace tp
