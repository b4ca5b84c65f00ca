// Gives idle memory back: kept empty pages to the arenas, idle runs and free parts of partly used pages to the system. Callers
// hold no heap's lock.
#pragma once

#include "base/config.h"

namespace tp {

// Purges memory that was idle for so long; returns bytes. keep: idle bytes that may stay. It leaves out heaps whose locks are
// taken, and the calling thread's magazines.
size_t purge(uint32_t min_idle_ms, size_t keep = 0);

// Purges what was idle for the delay of its heap: delay_ms, until the heap has learned another. Returns bytes.
size_t purge_idle(uint32_t delay_ms, size_t keep);

// Purges all that is idle, for programs that ask often: leaves the heaps alone while little has changed in them.
size_t trim(size_t keep);

// Purges everything for an allocation that found no memory. It waits for heaps whose locks are taken: what they keep may be all
// that is missing.
void purge_for_allocation();

// Calls allocate(), and after a purge again while it returns null: a few times, for other threads may take what a purge freed.
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
