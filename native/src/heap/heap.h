// Heaps: the owners of pages, and the slow paths of rent and return.
//
// A heap is a thread's (most of them), an explicit one (tp_heap), that of a pool without thread caches, or the one
// fallback heap of threads that have already ended. The magazines of a thread heap belong to its thread alone; all else
// is under the heap's lock.
//
// One rent that misses (rent_slow):                     One return that misses (return_slow):
//   1. lock; a chunk of the depot fills the magazine      1. lock; the older half of the magazine becomes a chunk of
//   2. none: half a magazine is filled from the pages        the depot
//      of the bin's queue: free blocks, those that        2. the depot is full, or they are others' blocks: they are
//      other threads gave back, new ones                     grouped by page; groups of own pages go to the page's
//   3. no page: pending pages, kept empty pages,             free list
//      pages of orphans, the arena                        3. groups of other heaps' pages go to the page's remote word
//   4. the block on top is the renter's                      in one exchange; a push that lists an unwatched page
//                                                            puts it on its owner's pending stack
//                                                         4. a page without used blocks is kept empty or goes back
#pragma once

#include "heap/depot.h"
#include "heap/heap_lock.h"
#include "heap/purge_delay.h"
#include "heap/shapes.h"
#include "pages/arena.h"

namespace tp {

enum class HeapState : uint8_t { free, thread, orphan, explicit_, pool, fallback };

// Where each magazine lies among a heap's slots.
struct Slots {
  uint32_t start[bin_count];  // of the bin's first entry; the null lies before it
  uint32_t total;
};
constexpr Slots lay_out_slots() {
  Slots slots{};
  uint32_t at = 0;
  for (size_t bin = 0; bin < bin_count; ++bin) {
    slots.start[bin] = ++at;
    at += magazine_of_bin(bin);
  }
  slots.total = at;
  return slots;
}
inline constexpr Slots slot_layout = lay_out_slots();

struct Heap : detail::fast_heap {
  // From here on under the lock.
  HeapLock lock;
  std::atomic<HeapState> state;
  uint32_t refills[bin_count];       // for statistics
  bool zero_on_free;
  bool caches;                       // blocks of its pages may wait in magazines
  std::atomic<bool> changed;         // since a purge of all that is idle saw it; set without the lock by threads that give blocks back
  std::atomic<size_t> may_be_idle;   // bytes that may have become idle in its pages since then, at most; read without the lock
  std::atomic<uint32_t> pending;     // stack of pages that became listed; no lock needed to push
  uint32_t queue[bin_count];         // pages that have, or may have, blocks to give
  uint32_t full[bin_count];          // pages whose blocks are all out
  Depot depot;
  uint32_t large;                    // live large blocks of explicit heaps
  static constexpr uint32_t most_kept = 32;
  uint32_t kept[3][most_kept];       // empty pages of 1, 2 and 4 slices
  uint32_t kept_count[3];
  uint32_t kept_stamp;               // when the last of them came
  static constexpr uint32_t most_kept_large = 8;
  struct KeptLarge {
    uint32_t id, slices, stamp;
  } kept_large[most_kept_large];
  PurgeDelay purge_delay;
  uint32_t parts_gone_at;            // stamp of when parts of its pages last went back for being idle; 0: a caller asked
  std::atomic<size_t> held_bytes;    // pages and large blocks, kept ones too; those of threads change without the lock
  size_t limit_bytes;                // 0: none
  size_t remote_frees;
  uint32_t serial;                   // for messages
  char name[32];
  Heap* next;                        // in the registry
  Heap* next_unused;                 // of the orphans, or of the destroyed heaps

  // The magazines; of the thread alone. Explicit heaps have none: their structure ends here.
  void* slots[slot_layout.total];

  void** bottom(size_t bin) { return slots + slot_layout.start[bin]; }
};

// Tells the next purge to visit the heap. Writes the flag only when it is not set, for other cores have it in their caches.
inline void note_change(Heap* heap) {
  if (!heap->changed.load(std::memory_order_relaxed)) heap->changed.store(true, std::memory_order_relaxed);
}

// Counts bytes that may be idle because blocks came back to a page of this heap; a few are not worth a trim. The heap's lock
// is held.
inline void note_idle(Heap* heap, size_t bytes) {
  heap->may_be_idle.store(heap->may_be_idle.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

inline bool is_thread_heap(const Heap* heap) { return heap->state.load(std::memory_order_relaxed) == HeapState::thread; }

// A heap of the program's own, or that of a pool without a bin: no thread's.
inline bool is_explicit(const Heap* heap) {
  HeapState state = heap->state.load(std::memory_order_relaxed);
  return state == HeapState::explicit_ || state == HeapState::pool;
}

// True when the heap may hold so many bytes more.
inline bool fits_limit(const Heap* heap, size_t bytes) {
  return heap->limit_bytes == 0 || heap->held_bytes.load(std::memory_order_relaxed) + bytes <= heap->limit_bytes;
}

bool zeroes_what_is_freed(const Heap* heap);

// Tells the heap that it needs memory again which went back at gone_at for being idle. Its lock is held, here and below.
void note_refault(Heap* heap, size_t bytes, uint32_t gone_at);

// Returns how much longer than the option says what the heap leaves idle stays, in milliseconds.
uint32_t extra_delay_ms(const Heap* heap);

bool heap_is_valid(const Heap* heap);  // its lock is held

}  // namespace tp
