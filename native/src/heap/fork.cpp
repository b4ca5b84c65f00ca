#include "heap/fork.h"

#include <pthread.h>

#include "base/options.h"
#include "heap/flush.h"
#include "heap/heap.h"
#include "heap/pool_bins.h"
#include "heap/purge_thread.h"
#include "heap/refill.h"
#include "heap/registry.h"
#include "heap/thread_heap.h"
#include "pages/purge_runs.h"
#include "profile/heap_profile.h"

namespace tp {

namespace {

std::atomic<bool> is_set_up{false};
std::atomic<const ForkHooks*> hooks{nullptr};
const ForkHooks* hooks_of_this_fork;  // those that ran before it; thread_setup_lock

void before_fork() {
  const ForkHooks* above = hooks.load(std::memory_order_acquire);
  if (above != nullptr) above->before();
  profile::before_fork();
  thread_setup_lock.lock();
  hooks_of_this_fork = above;
  options::lock.lock();
  pools_lock.lock();
  lock_registry();
  purge_lock.lock();
  // One barrier for the locks of all heaps.
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) heap->lock.start_visit();
  if (first_heap() != nullptr && os::has_barrier_of_process()) os::barrier_of_process();
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) heap->lock.finish_visit();
  arena_lock.lock();
}

void after_fork_in_parent() {
  arena_lock.unlock();
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) heap->lock.unlock();
  purge_lock.unlock();
  unlock_registry();
  pools_lock.unlock();
  options::lock.unlock();
  const ForkHooks* above = hooks_of_this_fork;
  thread_setup_lock.unlock();
  profile::after_fork_in_parent();
  if (above != nullptr) above->after_in_parent();
}

// Makes the heap of a thread that does not exist here an orphan, and lists heaps without a user again.
void adopt_in_child(Heap* heap, bool some_unlisted) {
  heap->lock.reset(heap == known_heap());
  note_change(heap);  // another thread's purge may have seen half of it
  if (some_unlisted) {
    LockedHeap locked(heap);
    relist_full_pages(heap);
  }
  HeapState state = heap->state.load(std::memory_order_relaxed);
  if (state == HeapState::free) add_destroyed(heap);
  if (heap == known_heap() || (state != HeapState::thread && state != HeapState::orphan)) return;
  heap->state.store(HeapState::orphan, std::memory_order_relaxed);
  add_orphan(heap);
}

void after_fork_in_child() {
  arena_lock.reset();
  purge_lock.reset();
  reset_registry();
  pools_lock.reset();
  options::lock.reset();
  thread_setup_lock.reset();
  bool some_unlisted = forget_returns_under_way();
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) adopt_in_child(heap, some_unlisted);
  profile::after_fork_in_child();
  if (hooks_of_this_fork != nullptr) hooks_of_this_fork->after_in_child();
  forget_purge_thread();
}

__attribute__((constructor)) void set_up_when_loaded() { set_up_fork(); }

}  // namespace

// A program that forks while another thread is in its first call would not find the handlers in place, so they are put there
// when the library is loaded.
void set_up_fork() {
  if (is_set_up.exchange(true, std::memory_order_acq_rel)) return;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void set_fork_hooks(const ForkHooks* above) { hooks.store(above, std::memory_order_release); }

}  // namespace tp
