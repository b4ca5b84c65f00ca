// Arenas: large ranges of address space in slices of 64 KiB. What a slice is used for is found by its address or its number.
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

// The index of a slice in its arena.
inline uint32_t slice_index(PageId id) { return id & ((1u << slice_bits) - 1); }

inline Page* page_of(PageId id) { return &arenas[id >> slice_bits].pages[slice_index(id)]; }
inline Discarded* discarded_of(PageId id) { return &arenas[id >> slice_bits].discarded[slice_index(id)]; }
inline uint8_t* bins_of(PageId id) { return &arenas[id >> slice_bits].bins[slice_index(id)]; }

inline void* address_of(PageId id) {
  const Arena& arena = arenas[id >> slice_bits];
  return reinterpret_cast<void*>(arena.base + (uintptr_t{slice_index(id)} << slice_shift));
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

// Returns the slice of an address; 0 when no arena has it. Looks into all arenas.
PageId slice_of_slow(const void* address);

// Returns use(arena, slice) for the slice of an address; slice 0: no arena has it. The window's two arenas are constants in `use`.
template <class Use>
[[gnu::always_inline]] inline auto with_slice_of(const void* address, Use use) {
  auto a = reinterpret_cast<uintptr_t>(address);
  if (uint32_t slice = arenas[0].slice_at(a); slice != 0) return use(0u, slice);
  if (uint32_t slice = arenas[dense_arena].slice_at(a); slice != 0) return use(dense_arena, slice);
  PageId slice = slice_of_slow(address);
  return use(slice >> slice_bits, slice_index(slice));
}

// Returns the slice of an address; 0 when no arena has it.
inline PageId slice_of(const void* address) {
  return with_slice_of(address, [](uint32_t arena, uint32_t slice) { return arena << slice_bits | slice; });
}

// Returns the description of the slice of an address; null when no arena has it.
inline Page* slice_with(const void* address) {
  return with_slice_of(address, [](uint32_t arena, uint32_t slice) { return slice != 0 ? &arenas[arena].pages[slice] : nullptr; });
}

// The page of a block: its first slice. Of a large block the block's own slice.
inline PageId page_with(const void* block) {
  PageId slice = slice_of(block);
  return slice - page_of(slice)->first;
}

// Returns the first slice of the page or large block that has the slice; 0 when none in use has it.
PageId first_slice_of(PageId slice);

// Guards all of the arenas: their parts, their runs, what they are asked for. Also for fork.
extern Lock arena_lock;

}  // namespace tp
