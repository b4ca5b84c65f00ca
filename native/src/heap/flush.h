// Gives free blocks back to their pages, the heap's own and those of other heaps.
#pragma once

#include "heap/heap.h"

namespace tp {

// Gives every block back to its page, as of the time stamp. heap: had the blocks in its magazines or depot; its lock is held.
void flush(Heap* heap, void* const* blocks, uint32_t count, uint32_t stamp);

// Gives one block back to its page at once, of any heap. No lock is held.
void return_to_page(PageId id, void* block);

// Returns, in the child of a fork, true when another thread was giving a block back: its page may be listed and in no list.
bool forget_returns_under_way();

}  // namespace tp
