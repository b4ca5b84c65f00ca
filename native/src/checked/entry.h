// The checked library: every block has a record outside of the program's reach, every call is verified against it.
// docs/design/native-checked.md says how; native/tests/misuse is the list of what is caught.
//
// The entry points of tidepool.h call these functions, and nothing else, when tp::checked is true. Every function
// reports misuse itself; when the misuse handler returns, it has done nothing and returns null, 0 or false. Allocation
// failures set errno. No function is called with one of the core's locks held; none holds a lock of its own while it
// calls the core, so the order of locks does not matter.
//
// A tp_heap* or tp_pool* of the checked library is an Owner (owner.h), which begins with a fast_pool of bin 0, so that
// the inline headers go slow.
#pragma once

#include "base/config.h"

namespace tp::check {

// ---- blocks: alignment 0 stands for none asked for (16)

void* allocate(size_t size, size_t alignment, bool zero);
void* reallocate(void* block, size_t size);
void release(void* block);
void release_sized(void* block, size_t size);
void release_aligned_sized(void* block, size_t alignment, size_t size);
size_t usable_size(const void* block);

// True for the blocks that end at a guard page, which the arenas do not know. tp_owns is the arenas' answer or this.
bool owns(const void* address);

// ---- heaps and pools: options as the program gave them, not yet verified

tp_heap* heap_create(const tp_heap_options* options);
void* heap_allocate(tp_heap* heap, size_t size, size_t alignment, bool zero);
void heap_release(tp_heap* heap, void* block);
void heap_release_aligned_sized(tp_heap* heap, void* block, size_t alignment, size_t size);
void heap_usage(tp_heap* heap, size_t* live_bytes, size_t* held_bytes);
void heap_destroy(tp_heap* heap);

tp_pool* pool_create(const tp_pool_options* options);
void* pool_rent(tp_pool* pool);
void pool_return(tp_pool* pool, void* block);
size_t pool_block_size(const tp_pool* pool);
void pool_usage(tp_pool* pool, size_t* live_bytes, size_t* held_bytes);
void pool_destroy(tp_pool* pool);

}  // namespace tp::check
