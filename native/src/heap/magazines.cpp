#include "heap/magazines.h"

#include <string.h>

#include "heap/flush.h"
#include "heap/purge_thread.h"
#include "heap/refill.h"
#include "heap/thread_heap.h"
#include "os/assert.h"
#include "pages/stamp.h"
#include "profile/size_histogram.h"

namespace tp {

namespace {

// A fork may copy the heap of another thread between any two stores, and the child adopts it. Blocks that are about to
// leave a magazine leave it first, so that a copy can lose blocks but never has one twice.
void order_for_fork() { std::atomic_signal_fence(std::memory_order_seq_cst); }

// The histogram of sizes is shared by all threads: after the first refills of a bin each one in 16 stands for all.
void note_size(const Heap* heap, size_t bin, size_t size, uint32_t count) {
  uint32_t refills = heap->refills[bin];
  if (refills <= 16) {
    profile::note_refill(size, count);
  } else if (refills % 16 == 0) {
    profile::note_refill(size, count * 16);
  }
}

}  // namespace

void* rent_slow(Heap* heap, size_t bin, size_t size) {
  void** bottom = heap->bottom(bin);
  TP_ASSERT(heap == known_heap() && heap->top[bin] == bottom);
  heap->lock.lock_as_owner();
  // Half a magazine, so that as many returns find room.
  uint32_t count = take_from_depot(heap, bin, bottom);
  if (count == 0) count = take_blocks(heap, bin, shapes.of[bin], bottom, magazine_of_bin(bin) / 2);
  heap->lock.unlock_as_owner();
  if (count == 0) return nullptr;
  if (bin < first_pool_bin) note_size(heap, bin, size, count);
  order_for_fork();
  void* block = bottom[count - 1];
  heap->top[bin] = bottom + count - 1;
  start_purge_thread_if_worth_it();  // allocates: the magazine is as it should be
  return block;
}

void return_slow(Heap* heap, void* block, size_t bin) {
  void** bottom = heap->bottom(bin);
  TP_ASSERT(heap == known_heap() && heap->top[bin] == heap->end[bin]);
  auto count = static_cast<uint32_t>(heap->top[bin] - bottom);
  uint32_t older = count - count / 2;
  heap->top[bin] = bottom;
  order_for_fork();
  {
    LockedAsOwner locked(heap->lock);
    if (!put_into_depot(heap, bin, bottom, older)) flush(heap, bottom, older, now_stamp());
  }
  memmove(bottom, bottom + older, (count - older) * sizeof(void*));
  bottom[count - older] = block;
  order_for_fork();
  heap->top[bin] = bottom + (count - older) + 1;
  note_idle_pages(may_make_thread_at_free(shapes.of[bin].block_size));
}

void* rent_uncached(Heap* heap, size_t bin, const Shape& shape) {
  void* block = nullptr;
  LockedHeap locked(heap);
  take_blocks(heap, bin, shape, &block, 1);
  return block;
}

// An estimate when the heap's thread runs: that thread moves the top with plain stores, which an aligned load cannot tear,
// and a new heap has none yet. ThreadSanitizer is told that this is meant.
__attribute__((no_sanitize("thread"))) size_t cached_blocks(const Heap* heap, size_t bin) {
  size_t in_depot = blocks_in_depot(heap, bin);
  if (heap->state.load(std::memory_order_relaxed) != HeapState::thread) return in_depot;
  void* const* top = *static_cast<void** const volatile*>(&heap->top[bin]);
  void* const* bottom = heap->slots + slot_layout.start[bin];
  return in_depot + (top > bottom ? static_cast<size_t>(top - bottom) : 0);
}

void empty_magazines(Heap* heap) {
  uint32_t now = now_stamp();
  {
    // Locked before the first look at a bin: its pool may be destroyed while this thread ends.
    LockedAsOwner locked(heap->lock);
    for (size_t bin = 1; bin < bin_count; ++bin) {
      void** bottom = heap->bottom(bin);
      auto count = static_cast<uint32_t>(heap->top[bin] - bottom);
      if (count == 0) continue;
      heap->top[bin] = bottom;
      order_for_fork();
      flush(heap, bottom, count, now);
    }
    empty_depot(heap, UINT32_MAX);
  }
  note_idle_pages(true);
}

}  // namespace tp
