// All heaps of the process, and those of them without a user: the orphans of threads that ended, and destroyed heaps.
//
// Heaps are never unmapped, and the registry only grows at its head, so it is read without a lock. It grows under one, for a
// fork must not copy a heap in the middle of its first use.
#pragma once

#include "pages/arena.h"

namespace tp {

struct Heap;
enum class HeapState : uint8_t;

// The newest heap; Heap::next leads to the others. Heaps in all states.
Heap* first_heap();

// A heap in the given state, registered; its structure has so many bytes. Null: out of memory.
Heap* make_heap(HeapState state, size_t bytes);

// An explicit heap, or that of a pool without a bin. Null: out of memory.
Heap* create_heap(HeapState state);
void destroy_heap(Heap* heap);

// The heap of a thread that has ended waits for the next new thread.
void add_orphan(Heap* heap);
Heap* take_orphan();  // null: there is none
size_t orphan_count();

// Takes a page with blocks to give from an orphan; it is the heap's then, whose lock is held. 0: none.
PageId take_page_of_orphans(Heap* heap, size_t bin);

// For fork. After the reset no heap is an orphan or destroyed: the child adds them again.
void lock_registry();
void unlock_registry();
void reset_registry();
void add_destroyed(Heap* heap);

}  // namespace tp
