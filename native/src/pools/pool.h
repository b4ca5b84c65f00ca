// Pools of equal blocks. Most have a bin of their own in every thread heap, so that rent and return are as fast as
// malloc's fast path; the others (large blocks, secrets, more pools than bins) are one heap with a lock.
#pragma once

#include "heap/heap.h"

struct tp_pool : tp::detail::fast_pool {
  tp::Shape shape;
  tp::Heap* heap;  // without a bin: where its pages are
  tp_pool* next;   // of free structures
};

namespace tp {

tp_pool* create_pool(const tp_pool_options& options);  // options are verified; null: out of memory
void* rent_from_pool(tp_pool* pool);                   // null: out of memory or limit
void return_to_pool(tp_pool* pool, void* block);
void pool_usage(tp_pool* pool, size_t* live_bytes, size_t* held_bytes);
void destroy_pool(tp_pool* pool);
size_t pool_count();

// Returns 0 or EINVAL.
int verify_pool_options(const tp_pool_options* options);

}  // namespace tp
