// What a heap keeps for reuse: empty pages, and the last few large blocks that were freed. A heap that takes and gives back
// pages pays neither the arenas' lock nor page faults for them; the purge takes what is idle. Everything here needs the heap's
// lock.
#pragma once

#include "heap/heap.h"

namespace tp {

// A run for one page: a kept one, or from the arenas, several at a time once the heap is no longer small. 0: none to be had.
PageId take_slices(Heap* heap, uint32_t slices, Fill fill);

// Keeps the slices of an empty page. The older half of those kept goes to the arenas when there is no room.
void keep_slices(Heap* heap, PageId id, uint32_t slices, uint32_t stamp);

// The kept large run that fits best, at most an eighth too long; 0: none.
Run take_kept_large(Heap* heap, uint32_t slices);

// Keeps the run of a large block in place of the oldest.
void keep_large(Heap* heap, PageId id, uint32_t slices);

// Gives a run of the heap to the arenas.
void release_run(Heap* heap, PageId id, uint32_t slices, uint32_t stamp);

// Gives kept runs that were idle for long enough to the arenas.
void release_kept(Heap* heap, uint32_t now, uint32_t min_idle_ms);

// True when the heap may hold so many bytes more, if need be without what it keeps.
bool make_room(Heap* heap, size_t bytes);

}  // namespace tp
