// Keeps empty pages and the last few freed large blocks of a heap for reuse. A heap that takes and gives back pages then pays
// neither the arenas' lock nor page faults for them; the purge takes them when they are idle. The heap's lock is held.
#pragma once

#include "heap/heap.h"
#include "pages/runs.h"

namespace tp {

// Takes a run for one page: a kept one, or from the arenas, several at a time once the heap is no longer small. 0: out of memory.
PageId take_slices(Heap* heap, uint32_t slices, Fill fill);

// Keeps the slices of an empty page. The older half of those kept goes to the arenas when there is no room.
void keep_slices(Heap* heap, PageId id, uint32_t slices, uint32_t stamp);

// Takes the kept large run that fits best, at most an eighth too long; 0: none.
Run take_kept_large(Heap* heap, uint32_t slices);

// Keeps the run of a large block in place of the oldest.
void keep_large(Heap* heap, PageId id, uint32_t slices);

// Gives a run of the heap to the arenas.
void release_run(Heap* heap, PageId id, uint32_t slices, uint32_t stamp);

// Gives kept runs that were idle for long enough to the arenas.
void release_kept(Heap* heap, uint32_t now, uint32_t min_idle_ms);

// Releases what the heap keeps when its limit leaves no room for so many bytes more. False: there is still none.
bool make_room(Heap* heap, size_t bytes);

}  // namespace tp
