// Heaps: who owns pages, and the slow paths of rent and return.
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
//   4. the block on top is the renter's                      in one exchange; who lists an unwatched page puts it on
//                                                            its owner's pending stack
//                                                         4. a page without used blocks is kept empty or goes back
#pragma once

#include "heap/depot.h"
#include "heap/heap_lock.h"
#include "heap/registry.h"
#include "pages/arena.h"

namespace tp {

enum class HeapState : uint8_t { free, thread, orphan, explicit_, pool, fallback };

// How the pages of the size classes are cut, and where each bin's magazine lies among a heap's slots.
struct Shapes {
  Shape of[bin_count];
};
extern constinit Shapes shapes;  // of size classes: constant; of pool bins: set while the pool lives
Shape shape_for(uint32_t block_size);

inline constexpr uint32_t pool_magazine = 64;  // pools come and go, the magazines stay: one size for all

// About 32 KiB of blocks, at least 32 and at most 128; of those above 8 KiB 16.
constexpr uint32_t magazine_size(uint32_t block_size) {
  uint32_t blocks = 32768 / block_size;
  uint32_t least = block_size <= 8192 ? 32 : 16;
  return blocks < least ? least : blocks > 128 ? 128 : blocks;
}
constexpr uint32_t magazine_of_bin(size_t bin) {
  return bin == 0 ? 0 : bin >= first_pool_bin ? pool_magazine : bin <= class_count ? magazine_size(static_cast<uint32_t>(size_of_bin(bin))) : 0;
}

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

// ---- refill.cpp: pages of one heap. All need the heap's lock.

// Fills blocks[0..most), the best to rent first last; returns how many. Only for the first a new page is made, or memory used
// that went back to the system. 0: out of memory.
uint32_t take_blocks(Heap* heap, size_t bin, const Shape& shape, void** blocks, uint32_t most);

// After blocks came back to a page that may have been full, or may be empty now: it moves to where it belongs.
void settle_page(Heap* heap, PageId id);

// There may be something for a purge. Others have the flag in their caches: it is written only when it is not set.
inline void note_change(Heap* heap) {
  if (!heap->changed.load(std::memory_order_relaxed)) heap->changed.store(true, std::memory_order_relaxed);
}

// The same for blocks that came back to a page of this heap; few of them are not worth a trim. Heap's lock.
inline void note_idle(Heap* heap, size_t bytes) {
  heap->may_be_idle.store(heap->may_be_idle.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

// Moves pages that other threads listed to their queues.
void drain_pending(Heap* heap);

// In the child of a fork: pages that are listed move to their queues although no one told the heap of them.
void relist_full_pages(Heap* heap);

// Takes what other threads gave back to all its queued pages, and lets empty ones go.
void collect(Heap* heap, uint32_t now);
void collect_bin(Heap* heap, size_t bin, uint32_t now);  // after drain_pending

// Gives empty pages and large runs that are kept for reuse, idle for long enough, to the arenas.
void release_kept(Heap* heap, uint32_t now, uint32_t min_idle_ms);

// The heap may hold so many bytes more.
inline bool fits_limit(const Heap* heap, size_t bytes) {
  return heap->limit_bytes == 0 || heap->held_bytes.load(std::memory_order_relaxed) + bytes <= heap->limit_bytes;
}
// The same, if need be without what the heap keeps.
bool make_room(Heap* heap, size_t bytes);

bool zeroes_what_is_freed(const Heap* heap);

// Gives the pages of one bin to the arenas, whoever has blocks of them.
void release_bin(Heap* heap, size_t bin);

// Gives every page and large block of the heap to the arenas, whoever has blocks of them.
void release_everything(Heap* heap);

// ---- discard.cpp: gives idle parts of partly used pages back to the system. Heap's lock. Returns bytes.
// Looks at a limited number of pages, for the owner may be waiting for its lock; at is where it goes on then.
struct DiscardPlace {
  size_t bin = 0;  // bin_count: all was seen
  PageId page = 0;
};
size_t discard_free_parts(Heap* heap, uint32_t now, uint32_t min_idle_ms, DiscardPlace* at);

// What is resident of partly used pages and not in use, in bytes. Heap's lock.
size_t idle_parts(Heap* heap);

// How many bytes may have become idle with count blocks that have just come back to the page, at most; never 0. Heap's lock.
size_t idle_after_return(PageId id, uint32_t count);

// Makes blocks whose memory was discarded available again, some of them. There are such blocks.
void restore_lost(PageId id);

// What is lost is what lies in units that are gone, so that restore_lost finds all of it.
bool discarded_is_valid(PageId id);

// The bytes from..to of the page, which nothing lay in, are blocks now. Units behind them may have been discarded before.
void use_units(PageId id, uint32_t from, uint32_t to);

// ---- flush.cpp
// Gives every block back to its page, as of the time stamp. heap: the one the blocks come from; its lock is held.
void flush(Heap* heap, void* const* blocks, uint32_t count, uint32_t stamp);

// Gives one block back to its page at once, whoever owns it. No lock held.
void return_to_page(PageId id, void* block);

// In the child of a fork: true when another thread was in between, so that its page may be listed and nowhere in a list.
bool forget_returns_under_way();

// ---- large.cpp
void* rent_large(Heap* heap, size_t size, size_t alignment, bool zero);  // takes the lock
void return_large(Heap* current, PageId id);
bool resize_large(PageId id, size_t size);

// ---- thread_heap.cpp
// The calling thread's heap, made or adopted when it has none; the fallback heap when the thread is ending; null: out of
// memory.
Heap* current_heap();
Heap* known_heap();                // the calling thread's, null when it has none

// Before the first allocation of the process: from here on the options that shape it are fixed.
void load_options();

// Every allocation and free has to be seen: nothing is cached in thread heaps.
bool is_instrumented();

// The lock of a heap that may be the calling thread's own.
class LockedHeap {
 public:
  explicit LockedHeap(Heap* heap) : heap_(heap), own_(heap == known_heap()) { lock(); }
  ~LockedHeap() { unlock(); }
  LockedHeap(const LockedHeap&) = delete;
  LockedHeap& operator=(const LockedHeap&) = delete;

 private:
  void lock() { own_ ? heap_->lock.lock_as_owner() : heap_->lock.lock(); }
  void unlock() { own_ ? heap_->lock.unlock_as_owner() : heap_->lock.unlock(); }

  Heap* heap_;
  bool own_;
};
bool is_ending_thread();
extern Lock thread_setup_lock;     // for fork
inline bool is_thread_heap(const Heap* heap) { return heap->state.load(std::memory_order_relaxed) == HeapState::thread; }
void empty_magazines(Heap* heap);  // of the calling thread
// In the magazine and the depot. The lock is held; an estimate unless its thread is still.
size_t cached_blocks(const Heap* heap, size_t bin);

// refill.cpp: a page of the bin that has blocks to give, out of the heap; 0: none. The lock is held.
PageId detach_page(Heap* heap, size_t bin);

// ---- purge.cpp
// Returns the bytes that went back. keep: so many idle bytes may stay. Heaps whose locks are taken are left out. What the
// calling thread's magazines hold stays.
size_t purge(uint32_t min_idle_ms, size_t keep = 0);

// Purges all that is idle, for programs that ask often: leaves the heaps alone while little has changed in them.
size_t trim(size_t keep);

// For an allocation that found no memory: what any heap keeps empty, also of those whose locks are taken at this moment,
// may be all that is missing. No heap's lock held.
void purge_for_allocation();

// What allocate() gives; while it gives null a few times again, for other threads may take what a purge has freed. No heap's
// lock held.
template <typename Allocate>
auto allocate_or_purge(Allocate allocate) {
  auto* result = allocate();
  for (int purges = 0; TP_UNLIKELY(result == nullptr) && purges < 3; ++purges) {
    purge_for_allocation();
    result = allocate();
  }
  return result;
}

// Something may become purgeable. may_make_thread: the background thread may be made here, for the caller is not inside of
// the C library's own thread functions.
void note_idle_pages(bool may_make_thread);
bool may_make_thread_at_free(uint32_t block_size);
void make_purging_thread_if_worth_it();  // by a rent that misses; no lock held
void restart_purging_after_fork();

// ---- magazines.cpp: the slow paths of blocks up to max_class_size
void* rent_slow(Heap* heap, size_t bin, size_t size);
void return_slow(Heap* heap, void* block, size_t bin);
// One block at once, past the magazines: for explicit heaps, pools without caches, ended threads. No lock held.
void* rent_uncached(Heap* heap, size_t bin, const Shape& shape);

bool heap_is_valid(Heap* heap);  // lock held

}  // namespace tp
