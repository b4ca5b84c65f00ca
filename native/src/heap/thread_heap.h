// From threads to heaps: made at a thread's first slow call, left behind for the next thread when it ends.
//
//   no heap   the thread's heap is the constant empty heap: the first slow call makes or adopts one
//   running   its own heap, state thread
//   ending    the destructor of the pthread key made the heap an orphan; the thread's heap is the constant heap `ended`: what
//             other destructors still allocate comes from the shared fallback heap, block by block
#pragma once

#include "heap/heap.h"

namespace tp {

// The calling thread's heap, made or adopted when it has none; the fallback heap when the thread is ending; null: out of
// memory.
Heap* current_heap();

// The calling thread's heap; null when it has none.
Heap* known_heap();

bool is_ending_thread();

// Before the first allocation of the process: from here on the options that shape it are fixed.
void load_options();

// True when every allocation and free has to be seen: nothing is cached in thread heaps.
bool is_instrumented();

extern Lock thread_setup_lock;  // for fork

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

}  // namespace tp
