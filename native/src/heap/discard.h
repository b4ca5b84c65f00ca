// Gives the free 4 KiB units of partly used pages back to the system. The links of the free list there are gone then, so these
// blocks leave the list first and count as lost; restore_lost finds them again by the units. The lock of the page's heap is
// held.
#pragma once

#include "heap/heap.h"
#include "pages/purge_runs.h"

namespace tp {

// Where the next visit goes on. One visit looks at a limited number of pages, for the owner may be waiting for its lock.
struct DiscardPlace {
  size_t bin = 0;  // bin_count: all was seen
  PageId page = 0;
};

// Gives idle parts of partly used pages back to the system; returns bytes.
size_t discard_free_parts(Heap* heap, uint32_t now, uint32_t min_idle_ms, PurgeCause cause, DiscardPlace* at);

// Returns the bytes of partly used pages that are resident and not in use.
size_t idle_parts(const Heap* heap);

// Returns the most bytes that count blocks, which have just come back to the page, may have left idle; never 0.
size_t idle_after_return(PageId id, uint32_t count);

// Makes some of the blocks whose memory was discarded available again. There are such blocks.
void restore_lost(PageId id);

// Marks the bytes from..to of the page as blocks; nothing lay there. Units behind them may have been discarded before.
void use_units(PageId id, uint32_t from, uint32_t to);

// True when exactly the blocks in discarded units count as lost, so that restore_lost finds all of them.
bool discarded_is_valid(PageId id);

}  // namespace tp
