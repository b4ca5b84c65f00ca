// The slow paths of rent and return: what happens when a thread's magazine is empty or full.
#pragma once

#include "heap/heap.h"

namespace tp {

// Fills the empty magazine of the calling thread's heap and rents from it. Null: out of memory. size: what was asked for.
void* rent_slow(Heap* heap, size_t bin, size_t size);

// Makes room in the full magazine of the calling thread's heap and puts the block on top.
void return_slow(Heap* heap, void* block, size_t bin);

// Rents one block past the magazines: for explicit heaps, pools without caches, ended threads. No lock is held.
void* rent_uncached(Heap* heap, size_t bin, const Shape& shape);

// Gives everything in the magazines and the depot of the calling thread's heap back to the pages.
void empty_magazines(Heap* heap);

// Blocks in the magazine and the depot. The lock is held; an estimate unless the heap's thread is still.
size_t cached_blocks(const Heap* heap, size_t bin);

}  // namespace tp
