// Gives dirty runs back to the system.
#pragma once

#include "pages/arena.h"

namespace tp {

// Why memory goes back: a caller asks for it, or it was idle for long enough. Only the second one heeds what a run stays longer,
// and leaves word for the next user of the run that it went for that.
enum class PurgeCause { caller, idleness };

// Gives dirty runs of at least min_idle_ms back to the system until no more than keep_bytes are dirty; returns bytes.
size_t purge_runs(uint32_t now, uint32_t min_idle_ms, size_t keep_bytes = 0, PurgeCause cause = PurgeCause::caller);

// Gives all dirty runs back. The arenas' lock is held, and stays so.
void purge_runs_locked();

// Dirty slices in no list: their memory goes at this moment, while the arenas' lock is free. It is held here.
size_t slices_being_purged();

// Slices that went back, ever. The arenas' lock is held.
size_t slices_purged();

// One purge at a time; also for fork, before the arenas' lock.
extern Lock purge_lock;

}  // namespace tp
