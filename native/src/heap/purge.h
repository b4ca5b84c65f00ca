// Idle memory goes back to the system: kept empty pages go to the arenas, idle runs and the free parts of partly used pages
// to the system. No heap's lock is held by callers.
#pragma once

#include "base/config.h"

namespace tp {

// Returns the bytes that went back. keep: so many idle bytes may stay. Heaps whose locks are taken are left out. What the
// calling thread's magazines hold stays.
size_t purge(uint32_t min_idle_ms, size_t keep = 0);

// Purges all that is idle, for programs that ask often: leaves the heaps alone while little has changed in them.
size_t trim(size_t keep);

// For an allocation that found no memory: what any heap keeps empty, also of those whose locks are taken at this moment,
// may be all that is missing.
void purge_for_allocation();

// What allocate() gives; while it gives null a few times again, for other threads may take what a purge has freed.
template <typename Allocate>
auto allocate_or_purge(Allocate allocate) {
  auto* result = allocate();
  for (int purges = 0; TP_UNLIKELY(result == nullptr) && purges < 3; ++purges) {
    purge_for_allocation();
    result = allocate();
  }
  return result;
}

}  // namespace tp
