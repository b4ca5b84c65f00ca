#include "heap/purge.h"

#include "heap/depot.h"
#include "heap/discard.h"
#include "heap/heap.h"
#include "heap/kept.h"
#include "heap/refill.h"
#include "heap/registry.h"
#include "heap/thread_heap.h"
#include "os/assert.h"
#include "pages/purge_runs.h"
#include "pages/stamp.h"

namespace tp {

namespace {

// Idle bytes that a trim leaves in all heaps together. Otherwise a program that trims after every few calls would give back
// what its next calls touch again, and pay for a look at all its pages each time.
constexpr size_t worth_a_visit = size_t{1} << 20;

// What one purge does:
//
//   the heap of ...        when                                          how
//   the calling thread     something changed since it was last purged    entered as its owner: no barrier of the process
//   another thread         the same                                      one visit, which takes one barrier; another one for
//                                                                        each 64 pages or chunks; left out when its lock is taken
//   any, none of these     nothing changed                               a look at a flag
//   then the arenas                                                      dirty runs, in batches
//
// A purge that leaves something by intent, because it is too young or may stay, neither heeds the flag nor clears it.
struct Purge {
  uint32_t now, min_idle_ms;
  size_t keep;
  bool waits;            // for locks that are taken; else those heaps are left out
  PurgeCause cause = PurgeCause::caller;
  size_t bytes = 0;      // went back
  size_t idle = 0;       // stays in partly used pages
  bool takes_all() const { return min_idle_ms == 0 && keep == 0; }
  uint32_t min_idle_of(const Heap* heap) const {
    return cause == PurgeCause::idleness ? min_idle_ms + extra_delay_ms(heap) : min_idle_ms;
  }
};

// One visit of a heap. Of the calling thread's own, which is not inside, it takes no barrier.
class Visit {
 public:
  Visit(Heap* heap, bool waits) : heap_(heap), own_(heap == known_heap()) {
    if (own_) heap->lock.lock_as_owner();
    else if (waits) heap->lock.lock();
    else entered_ = heap->lock.try_lock();
  }
  ~Visit() {
    if (own_) heap_->lock.unlock_as_owner();
    else if (entered_) heap_->lock.unlock();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  bool entered() const { return entered_; }

 private:
  Heap* heap_;
  bool own_;
  bool entered_ = true;
};

// Releases what is idle as a whole: blocks in the depot, empty pages, large runs. False: there is more.
bool release_idle(Heap* heap, const Purge& purge) {
  constexpr uint32_t chunks_at_once = 64;
  uint32_t min_idle_ms = purge.min_idle_of(heap);
  if (is_idle(purge.now, heap->depot.stamp, min_idle_ms) && empty_depot(heap, chunks_at_once)) return false;
  collect(heap, purge.now);
  release_kept(heap, purge.now, min_idle_ms);
  return true;
}

bool has_changed(const Heap* heap) {
  return heap->changed.load(std::memory_order_relaxed) || heap->may_be_idle.load(std::memory_order_relaxed) != 0;
}

// Purges one heap in short visits, for its owner may be waiting; one visit is enough unless there is much.
void purge_heap(Heap* heap, Purge& purge) {
  if (heap->state.load(std::memory_order_relaxed) == HeapState::free) return;
  // Clears the flag before the first look: later changes are for the next purge. A purge for an allocation looks everywhere,
  // because another purge, which took the flag, may not have got to the end.
  if (purge.takes_all() && !purge.waits) {
    if (!has_changed(heap)) return;
    heap->changed.exchange(false, std::memory_order_seq_cst);
  }
  DiscardPlace at;
  for (bool first = true, released = false; at.bin != bin_count; first = false) {
    Visit visit(heap, purge.waits);
    if (!visit.entered()) return note_change(heap);
    if (first && purge.takes_all()) heap->may_be_idle.store(0, std::memory_order_relaxed);
    released = released || release_idle(heap, purge);
    if (!released) continue;
    purge.bytes += discard_free_parts(heap, purge.now, purge.min_idle_of(heap), purge.cause, &at);
    if (at.bin == bin_count && purge.keep != 0) purge.idle += idle_parts(heap);
  }
}

// True when a heap has changed in a way that may leave any amount idle, or enough blocks came back since the last purge.
bool is_worth_a_visit() {
  size_t bytes = 0;
  for (const Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    if (heap->state.load(std::memory_order_relaxed) == HeapState::free) continue;
    if (heap->changed.load(std::memory_order_relaxed)) return true;
    bytes += heap->may_be_idle.load(std::memory_order_relaxed);
  }
  return bytes >= worth_a_visit;
}

size_t purge_all(Purge purge) {
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) purge_heap(heap, purge);
  size_t keep = purge.keep > purge.idle ? purge.keep - purge.idle : 0;
  return purge.bytes + purge_runs(purge.now, purge.min_idle_ms, keep, purge.cause);
}

}  // namespace

size_t purge(uint32_t min_idle_ms, size_t keep) {
  return purge_all({.now = now_stamp(), .min_idle_ms = min_idle_ms, .keep = keep, .waits = false});
}

size_t purge_idle(uint32_t delay_ms, size_t keep) {
  return purge_all({.now = now_stamp(), .min_idle_ms = delay_ms, .keep = keep, .waits = false, .cause = PurgeCause::idleness});
}

size_t trim(size_t keep) { return is_worth_a_visit() ? purge(0, keep) : purge_runs(now_stamp(), 0, keep); }

void purge_for_allocation() {
  TP_ASSERT(known_heap() == nullptr || !known_heap()->lock.owner_is_inside());
  purge_all({.now = now_stamp(), .min_idle_ms = 0, .keep = 0, .waits = true});
}

}  // namespace tp
