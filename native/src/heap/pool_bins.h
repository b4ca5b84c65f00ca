// Bins of pools: which are taken, and how many bytes the pages of each may have. A pool's pages lie in every thread's heap,
// so what they count against lies here, below the pools.
#pragma once

#include "os/lock.h"
#include "pages/page.h"

namespace tp {

// Guards which bins are taken, and the pools' own structures; also for fork.
extern Lock pools_lock;

// A bin of pages of this shape, limit bytes of them at most (0: no limit). 0: all bins are taken. pools_lock is held.
size_t take_pool_bin(const Shape& shape, size_t limit);

// No heap has pages of the bin any more. pools_lock is held.
void give_pool_bin(size_t bin);

// Counts a page of a pool's bin. False: it does not fit the limit, nothing was counted. Thread-safe, as all below.
bool charge_pool_bin(size_t bin, size_t bytes);
void discharge_pool_bin(size_t bin, size_t bytes);

bool fits_pool_bin(size_t bin, size_t bytes);
size_t held_by_pool_bin(size_t bin);

}  // namespace tp
