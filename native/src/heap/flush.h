// Free blocks go back to the pages they are from, whoever owns those.
#pragma once

#include "heap/heap.h"

namespace tp {

// Gives every block back to its page, as of the time stamp. heap: the one the blocks come from; its lock is held.
void flush(Heap* heap, void* const* blocks, uint32_t count, uint32_t stamp);

// Gives one block back to its page at once, whoever owns it. No lock is held.
void return_to_page(PageId id, void* block);

// In the child of a fork: true when another thread was in between, so that its page may be listed and nowhere in a list.
bool forget_returns_under_way();

}  // namespace tp
