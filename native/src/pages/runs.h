// Runs: slices one behind another, handed out to heaps and taken back, many at a time under one lock. A run is used, dirty (free,
// still backed by memory) or clean (free, reads as zero, no memory).
#pragma once

#include "pages/arena.h"

namespace tp {

struct Run {
  PageId id;    // 0: none to be had
  bool zeroed;  // every byte is known to be zero
  uint32_t gone_at = 0;  // stamp of when its memory went back for being idle; 0: it did not
};

// How full a run will be. Only one that is about to be filled from end to end gets huge pages, which make unused parts resident.
enum class Fill { sparse, dense };

// Takes a run of slices, aligned to a multiple of alignment slices (a power of two). Commits, or purges to stay within the
// memory limit, as needed. Page entries of the run are zero.
Run take_run(uint32_t slices, uint32_t alignment = 1, Fill fill = Fill::sparse);

// Takes count runs under one lock; returns how many there were.
uint32_t take_runs(uint32_t slices, uint32_t count, Run* runs, Fill fill = Fill::sparse);

// Gives a run back. dirty: it may hold anything but zeros or is backed by memory.
void give_run(PageId id, uint32_t slices, bool dirty, IdleSince since);

// Shortens a used run in place, or lengthens it if what follows is free or was never used; false: unchanged.
bool resize_run(PageId id, uint32_t slices, uint32_t new_slices);

// Allocates memory for the library's own structures: zeroed, 64-byte aligned, never given back. Null: out of memory.
void* allocate_meta(size_t bytes);

struct ArenaUsage {
  size_t used_bytes;   // in runs that are handed out
  size_t dirty_bytes;
  size_t peak_bytes;   // of the sum of both
  size_t mapped_bytes;  // address space, tables too
  size_t meta_bytes;
  size_t purged_bytes;
};
ArenaUsage arena_usage();
extern std::atomic<size_t> arena_held_slices;  // used and dirty; a hint for those without the lock

// Publishes the slices that are used or dirty. The arenas' lock is held.
void note_held_slices();

// Verifies arenas and their free runs. No lock is held.
bool arenas_are_valid();

}  // namespace tp
