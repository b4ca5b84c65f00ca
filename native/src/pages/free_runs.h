// Free runs of slices, by kind: clean ones read as zero and have no memory, dirty ones are resident. The stamp of a
// dirty run says since when it is idle, that of a clean one when its memory went back for that (0: never, or the program asked).
// Neighbours of the same kind are one run. The arenas' lock is held.
#pragma once

#include "pages/arena.h"
#include "pages/stamp.h"

namespace tp {

// Runs by the logarithm of their length, doubly linked.
struct RunLists {
  uint32_t head[slice_bits + 1];
  uint32_t filled;  // bit i: head[i] is not 0
};
extern RunLists free_runs[2][2];  // of the dense arena and the others; clean, dirty

// Slices in dirty runs, and those that are being purged.
extern size_t dirty_slices;

inline bool is_dense(PageId id) { return id >> slice_bits == dense_arena; }

// Adds a run as it is: no free neighbour is of its kind.
void insert_run(PageId id, uint32_t length, bool dirty, IdleSince since);

// Adds a run and joins it with free neighbours of its kind; returns the whole. What the longest part says of time holds for all.
PageId add_run(PageId id, uint32_t length, bool dirty, IdleSince since);

// Takes a run out of its list; its entries are as never used afterwards. Returns its length.
uint32_t remove_run(PageId id);

// Finds a run of at least length slices, best fit among the first few; 0: none.
PageId find_run(const RunLists& runs, uint32_t length);

// Takes the aligned part of a run that is asked for; the rest stays free.
PageId cut_run(PageId found, uint32_t length, uint32_t alignment);

// Makes two runs of one; returns the second.
PageId split_run(PageId id, uint32_t first_length);

bool free_runs_are_valid();

}  // namespace tp
