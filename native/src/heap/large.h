// Blocks above 32 KiB: whole slices. No lock is held by the caller.
#pragma once

#include "heap/heap.h"

namespace tp {

// Rents whole slices. Null: out of memory, or over the heap's limit.
void* rent_large(Heap* heap, size_t size, size_t alignment, bool zero);

// Returns a large block. current: the calling thread's heap, which may keep the run; null: none does.
void return_large(Heap* current, PageId id);

// Resizes a large block in place. False: it is as it was.
bool resize_large(PageId id, size_t size);

// Keeps what lies behind the first size bytes of a new large block for resize_large: its headroom.
void leave_headroom(PageId id, size_t size);

}  // namespace tp
