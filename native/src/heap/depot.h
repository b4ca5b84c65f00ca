// Chunks of free blocks between a thread's magazines and its pages.
//
// A program that frees more than a magazine holds, and rents as much again, would see every block go to its page and come
// back, some 40 instructions each. Instead the older half of a full magazine becomes a chunk, as it is, and an empty magazine
// is filled from one (the depot of J. Bonwick and J. Adams, "Magazines and vmem", 2001; here each heap has its own). What
// lies in chunks counts as used of its page, so it serves no other size and no other thread: the depot is bounded for each
// heap and for the process, holds blocks of the heap's own pages, and is emptied when the thread ends, when it was idle, and
// when memory is short. Its chunks are blocks, too, and go back with the others.
#pragma once

#include "base/config.h"
#include "pages/page.h"

namespace tp {

struct Heap;

struct Chunk {
  static constexpr uint32_t most = 64;  // half of the largest magazine
  Chunk* next;
  uint32_t count;
  void* blocks[most];
};

// All under the heap's lock; zero is the empty depot.
struct Depot {
  Chunk* full[first_pool_bin];  // newest first; blocks of pools stay with their pages, for pools have limits
  Chunk* unused;
  uint32_t chunks;  // in both kinds of lists
  uint32_t stamp;   // when blocks last came
  size_t bytes;     // blocks in full chunks, and those chunks
  size_t granted;   // the heap's part of what all depots may hold

  bool empty() const { return chunks == 0; }
};

// Puts blocks into a chunk. False: they are of another heap, there is no room, or no memory for the chunk.
bool put_into_depot(Heap* heap, size_t bin, void* const* blocks, uint32_t count);

// Fills blocks[0..) with the newest chunk of the bin; returns how many, 0: there is none.
uint32_t take_from_depot(Heap* heap, size_t bin, void** blocks);

// Gives blocks back to their pages, about so many chunks; false: the depot is empty now.
bool empty_depot(Heap* heap, uint32_t most_chunks);

// Blocks of the bin that are free and count as used: in chunks, or chunks themselves.
size_t blocks_in_depot(const Heap* heap, size_t bin);

bool depot_is_valid(const Heap* heap);

}  // namespace tp
