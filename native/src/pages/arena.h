// Arenas: large ranges of address space, handed out in runs of 64 KiB slices.
//
// Runs are used, dirty (free, still backed by memory, stamped with the time) or clean (free, reads as zero, no memory).
// Neighbours of the same kind are one run. All of it under one lock; thread heaps come here for whole pages, in batches.
//
// A slice is named by 32 bits: the arena's number in the upper 8, the slice's in the lower 24; 0 names none, for
// the first slices of an arena are the place of its own tables.
//
// The first two arenas are the halves of one window of up to 1 TiB, which the fast path knows (growth.h). They differ in
// what the system is asked for: the second has huge pages, and serves what is about to be filled from end to end. More
// arenas are made only when the window is used up, and the frees of their blocks are slow.
#pragma once

#include "os/lock.h"
#include "pages/page.h"

namespace tp {

using PageId = uint32_t;

struct Arena {
  uintptr_t base;
  uint32_t slices;          // there can be
  uint32_t first;           // behind the tables
  std::atomic<uint32_t> committed;  // end of those that are mapped; read without the lock to look up addresses
  uint32_t fresh;           // first slice that was never used
  uint32_t mapped;          // usable and no gap
  Page* pages;              // one for each slice
  uint8_t* bins;            // one for each slice: the fast path's map; 0 caches nothing
  Discarded* discarded;     // one for each slice

  // Returns the slice of an address; 0 when it is not mapped.
  uint32_t slice_at(uintptr_t address) const {
    uintptr_t offset = (address - base) >> slice_shift;
    return offset >= first && offset < committed.load(std::memory_order_relaxed) ? static_cast<uint32_t>(offset) : 0;
  }
};

inline constexpr unsigned max_arenas = 64;
inline constexpr unsigned slice_bits = 24;
inline constexpr size_t largest_arena = size_t{1} << (slice_bits + slice_shift);
inline constexpr uint32_t dense_arena = 1;
extern Arena arenas[max_arenas];
extern std::atomic<uint32_t> arena_total;

inline Page* page_of(PageId id) { return &arenas[id >> slice_bits].pages[id & ((1u << slice_bits) - 1)]; }
inline Discarded* discarded_of(PageId id) { return &arenas[id >> slice_bits].discarded[id & ((1u << slice_bits) - 1)]; }
inline uint8_t* bins_of(PageId id) { return &arenas[id >> slice_bits].bins[id & ((1u << slice_bits) - 1)]; }

inline void* address_of(PageId id) {
  const Arena& arena = arenas[id >> slice_bits];
  return reinterpret_cast<void*>(arena.base + (uintptr_t{id & ((1u << slice_bits) - 1)} << slice_shift));
}

inline BlockGrid grid_of(PageId id) {
  const Page* page = page_of(id);
  // Up to the end of the last block; there is none behind it.
  return {reinterpret_cast<uintptr_t>(address_of(id)), uintptr_t{page->capacity} * page->block_size, page->block_size, page->reciprocal};
}

// Bytes from the first arena's base that the fast path's map of bins covers: set with the first arenas.
extern uintptr_t window_length;

// True when the arena's memory is in huge pages, where the system has them.
bool has_huge_pages(uint32_t number);

// Returns the slice of an address; 0 when no arena has it.
PageId slice_of_slow(const void* address);
inline PageId slice_of(const void* address) {
  auto a = reinterpret_cast<uintptr_t>(address);
  if (uint32_t slice = arenas[0].slice_at(a); slice != 0) return slice;
  if (uint32_t slice = arenas[dense_arena].slice_at(a); slice != 0) return dense_arena << slice_bits | slice;
  return slice_of_slow(address);
}

// The page of a block: its first slice. Of a large block the block's own slice.
inline PageId page_with(const void* block) {
  PageId slice = slice_of(block);
  return slice - page_of(slice)->first;
}

// Returns the first slice of the page or large block that has the slice; 0 when none in use has it.
PageId first_slice_of(PageId slice);

struct Run {
  PageId id;    // 0: none to be had
  bool zeroed;  // every byte is known to be zero
};

// How full a run will be. Only one that is about to be filled from end to end gets huge pages, which make unused parts resident.
enum class Fill { sparse, dense };

// Takes a run of slices, aligned to a multiple of alignment slices (a power of two). Commits, or purges to stay within the
// memory limit, as needed. Page entries of the run are zero.
Run take_run(uint32_t slices, uint32_t alignment = 1, Fill fill = Fill::sparse);

// Takes count runs under one lock; returns how many there were.
uint32_t take_runs(uint32_t slices, uint32_t count, Run* runs, Fill fill = Fill::sparse);

// Gives a run back. dirty: it may hold anything but zeros or is backed by memory.
void give_run(PageId id, uint32_t slices, bool dirty, uint32_t stamp);

// Shortens a used run in place, or lengthens it if what follows is free or was never used; false: unchanged.
bool resize_run(PageId id, uint32_t slices, uint32_t new_slices);

// Gives dirty runs of at least min_idle_ms back to the system until no more than keep_bytes are dirty; returns bytes.
size_t purge_runs(uint32_t now, uint32_t min_idle_ms, size_t keep_bytes = 0);

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

// Milliseconds, cut to 32 bits: differences are right for 49 days.
// A stamp that is younger than now, for now was taken a while ago, is no idle time.
inline bool is_idle(uint32_t now, uint32_t stamp, uint32_t min_idle_ms) {
  auto age = static_cast<int32_t>(now - stamp);
  return static_cast<uint32_t>(age < 0 ? 0 : age) >= min_idle_ms;
}
inline uint32_t now_stamp() { return static_cast<uint32_t>(os::now_ms()); }

// For fork, in this order.
extern Lock purge_lock;
extern Lock arena_lock;
bool arenas_are_valid();

}  // namespace tp
