// Partly used pages: the free 4 KiB units in them go back to the system. What the free list keeps in the blocks there is gone
// then, so these blocks leave the free list first and are counted as lost; restore_lost finds them again by the units.
// Everything here needs the lock of the page's heap.
#pragma once

#include "heap/heap.h"

namespace tp {

// Where a visit that looked at a limited number of pages goes on: the owner may be waiting for its lock.
struct DiscardPlace {
  size_t bin = 0;  // bin_count: all was seen
  PageId page = 0;
};

// Gives idle parts of partly used pages back to the system; returns bytes.
size_t discard_free_parts(Heap* heap, uint32_t now, uint32_t min_idle_ms, DiscardPlace* at);

// Bytes of partly used pages that are resident and not in use.
size_t idle_parts(const Heap* heap);

// How many bytes may have become idle with count blocks that have just come back to the page, at most; never 0.
size_t idle_after_return(PageId id, uint32_t count);

// Makes blocks whose memory was discarded available again, some of them. There are such blocks.
void restore_lost(PageId id);

// The bytes from..to of the page, which nothing lay in, are blocks now. Units behind them may have been discarded before.
void use_units(PageId id, uint32_t from, uint32_t to);

// What is lost is what lies in units that are gone, so that restore_lost finds all of it.
bool discarded_is_valid(PageId id);

}  // namespace tp
