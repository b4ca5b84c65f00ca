// From threads to heaps: made at a thread's first slow call, left behind for the next thread when it ends.
//
//   no heap   tp_thread_heap_ is the constant empty heap: the first slow call makes or adopts one
//   running   its own heap, state thread
//   ending    the destructor of the pthread key gave the heap up (state orphan); tp_thread_heap_ is the constant heap
//             `ended`: what other destructors still allocate comes from the shared fallback heap, block by block
//
// Heaps are never unmapped, and the registry only grows at its head, so it is read without a lock.
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "api/options.h"
#include "base/report.h"
#include "checked/checked.h"
#include "heap/heap.h"
#include "profile/profile.h"
#include "slab/pool.h"

namespace tp {

// The heaps of threads without one: every magazine is empty and full at once, the span is 0. Constant-initialised, for
// static constructors of programs allocate before those of this library would run.
static void* no_slots[2] = {nullptr, nullptr};

static constexpr detail::fast_heap without_blocks() {
  detail::fast_heap heap{};
  for (size_t bin = 0; bin < bin_count; ++bin) heap.top[bin] = heap.end[bin] = no_slots + 1;
  return heap;
}

static constinit detail::fast_heap empty = without_blocks();
static constinit detail::fast_heap ended = without_blocks();

}  // namespace tp

extern "C" {
TP_EXPORT __thread tp::detail::fast_heap* tp_thread_heap_ TP_TLS_MODEL = &tp::empty;
}

namespace tp {

namespace {

#if TIDEPOOL_CHECKED
// The programs' inline paths see the empty heap at all times, so that every call comes to the checked layer.
__thread detail::fast_heap* thread_heap TP_TLS_MODEL = &empty;
#else
detail::fast_heap*& thread_heap_of_program() { return tp_thread_heap_; }
#define thread_heap thread_heap_of_program()
#endif

std::atomic<Heap*> registry{nullptr};
std::atomic<uint32_t> orphans{0};
std::atomic<uint32_t> serials{0};
std::atomic<Heap*> fallback{nullptr};
pthread_key_t key;
std::atomic<bool> process_is_set_up{false};
Lock set_up_lock;
Heap* locked_for_fork;

void before_fork();
void after_fork_in_parent();
void after_fork_in_child();
void end_of_thread(void* heap);

// Once, after the first thread has its heap: these calls may allocate.
void set_up_process() {
  if (process_is_set_up.exchange(true, std::memory_order_acq_rel)) return;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// The key must exist before the first heap is handed to a thread; making it does not allocate.
bool make_key() {
  static std::atomic<bool> made{false};
  if (made.load(std::memory_order_acquire)) return true;
  Locked locked(set_up_lock);
  if (made.load(std::memory_order_relaxed)) return true;
  if (pthread_key_create(&key, end_of_thread) != 0) return false;
  made.store(true, std::memory_order_release);
  return true;
}

void register_heap(Heap* heap) {
  Heap* first = registry.load(std::memory_order_relaxed);
  do {
    heap->next = first;
  } while (!registry.compare_exchange_weak(first, heap, std::memory_order_release, std::memory_order_relaxed));
}

// A heap in the given state that no one else uses: one that was destroyed, or a new one. Null: out of memory.
Heap* make_heap(HeapState state) {
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    HeapState unused = HeapState::free;
    if (heap->state.load(std::memory_order_relaxed) == HeapState::free &&
        heap->state.compare_exchange_strong(unused, state, std::memory_order_acq_rel)) {
      return heap;
    }
  }
  auto* heap = static_cast<Heap*>(allocate_meta(sizeof(Heap)));
  if (heap == nullptr) return nullptr;
  heap->state.store(state, std::memory_order_relaxed);
  heap->serial = serials.fetch_add(1, std::memory_order_relaxed) + 1;
  register_heap(heap);
  return heap;
}

// Magazines keep what they hold: after a fork an adopted heap has the blocks of a thread of the parent.
void prepare_magazines(Heap* heap) {
  heap->caches = true;
  memcpy(heap->small, detail::small_bins.data(), sizeof(heap->small));
  bool caching = !options::instrumented();
  for (size_t bin = 0; bin < bin_count; ++bin) {
    if (heap->top[bin] == nullptr) heap->top[bin] = heap->bottom(bin);
    heap->end[bin] = heap->bottom(bin) + (caching ? magazine_of_bin(bin) : 0);
  }
  heap->base = arenas[0].base;
  heap->bins = arenas[0].bins;
  heap->span = caching ? arenas[0].length() >> 4 : 0;
}

Heap* adopt_orphan() {
  if (orphans.load(std::memory_order_relaxed) == 0) return nullptr;
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    if (heap->state.load(std::memory_order_relaxed) != HeapState::orphan) continue;
    Locked locked(heap->lock);
    if (heap->state.load(std::memory_order_relaxed) != HeapState::orphan) continue;
    heap->state.store(HeapState::thread, std::memory_order_relaxed);
    orphans.fetch_sub(1, std::memory_order_relaxed);
    return heap;
  }
  return nullptr;
}

Heap* fallback_heap() {
  Heap* heap = fallback.load(std::memory_order_acquire);
  if (heap != nullptr) return heap;
  heap = make_heap(HeapState::fallback);
  if (heap == nullptr) return nullptr;
  heap->caches = true;
  Heap* none = nullptr;
  if (fallback.compare_exchange_strong(none, heap, std::memory_order_acq_rel)) return heap;
  heap->state.store(HeapState::free, std::memory_order_release);
  return none;
}

// Before the first allocation of the process: from here on the options that shape it are fixed.
void load_options() {
  options::load();
  static std::atomic<bool> done{false};
  if (done.exchange(true, std::memory_order_acq_rel)) return;
  profile::set_sampling(static_cast<uint64_t>(options::get(tp_option_sample_bytes)));
  if (checked) check::start();
}

Heap* start_thread_heap() {
  load_options();
  if (!make_key()) return nullptr;
  Heap* heap = adopt_orphan();
  if (heap == nullptr) {
    heap = make_heap(HeapState::thread);
    if (heap == nullptr) return nullptr;
  }
  prepare_magazines(heap);
  heap->lock.open_for_owner();
  thread_heap = heap;
  // From here on allocating works, also for the calls below.
  pthread_setspecific(key, heap);
  set_up_process();
  return heap;
}

void give_up(Heap* heap) {
  heap->lock.close_for_owner();
  empty_magazines(heap);
  Locked locked(heap->lock);
  collect(heap, now_stamp());
  release_kept(heap, 0, 0);
  heap->span = 0;
  heap->state.store(HeapState::orphan, std::memory_order_relaxed);
  orphans.fetch_add(1, std::memory_order_relaxed);
}

void end_of_thread(void* value) {
  auto* heap = static_cast<Heap*>(value);
  int saved = errno;
  thread_heap = &ended;
  give_up(heap);
  errno = saved;
}

void before_fork() {
  if (checked) check::before_fork();
  profile::before_fork();
  set_up_lock.lock();
  lock_pools_for_fork();
  // Heaps that are registered meanwhile stay unlocked; in the child their threads do not exist.
  locked_for_fork = first_heap();
  for (Heap* heap = locked_for_fork; heap != nullptr; heap = heap->next) heap->lock.start_visit();
  if (locked_for_fork != nullptr && os::has_barrier_of_process()) os::barrier_of_process();
  for (Heap* heap = locked_for_fork; heap != nullptr; heap = heap->next) heap->lock.finish_visit();
  arena_lock.lock();
}

void after_fork_in_parent() {
  arena_lock.unlock();
  for (Heap* heap = locked_for_fork; heap != nullptr; heap = heap->next) heap->lock.unlock();
  unlock_pools_after_fork();
  set_up_lock.unlock();
  profile::after_fork_in_parent();
  if (checked) check::after_fork_in_parent();
}

void after_fork_in_child() {
  arena_lock.reset();
  reset_pools_after_fork();
  set_up_lock.reset();
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    heap->lock.reset(heap == thread_heap);
    if (heap == thread_heap || heap->state.load(std::memory_order_relaxed) != HeapState::thread) continue;
    heap->state.store(HeapState::orphan, std::memory_order_relaxed);
    orphans.fetch_add(1, std::memory_order_relaxed);
  }
  profile::after_fork_in_child();
  if (checked) check::after_fork_in_child();
  restart_purging_after_fork();
}

}  // namespace

Heap* first_heap() { return registry.load(std::memory_order_acquire); }

Heap* current_heap() {
  detail::fast_heap* heap = thread_heap;
  if (TP_LIKELY(heap != &empty && heap != &ended)) return static_cast<Heap*>(heap);
  return heap == &ended ? fallback_heap() : start_thread_heap();
}

Heap* known_heap() {
  detail::fast_heap* heap = thread_heap;
  return heap != &empty && heap != &ended ? static_cast<Heap*>(heap) : nullptr;
}

Heap* create_heap(HeapState state) {
  load_options();
  Heap* heap = make_heap(state);
  if (heap == nullptr) return nullptr;
  Locked locked(heap->lock);
  heap->caches = false;
  heap->zero_on_free = false;
  heap->limit_bytes = 0;
  heap->held_bytes = 0;
  heap->name[0] = 0;
  heap->serial = serials.fetch_add(1, std::memory_order_relaxed) + 1;
  return heap;
}

void destroy_heap(Heap* heap) {
  heap->lock.lock();
  release_everything(heap);
  for (size_t bin = 0; bin < bin_count; ++bin) heap->refills[bin] = 0;
  // The next user of the structure, perhaps a thread, has none of this.
  heap->limit_bytes = 0;
  heap->zero_on_free = false;
  heap->name[0] = 0;
  heap->lock.unlock();
  heap->state.store(HeapState::free, std::memory_order_release);
  note_idle_pages(true);
}

PageId take_page_of_orphans(Heap* heap, size_t bin) {
  if (orphans.load(std::memory_order_relaxed) == 0 || !is_thread_heap(heap)) return 0;
  constexpr int most_looked_at = 32;
  int looked = 0;
  for (Heap* orphan = first_heap(); orphan != nullptr && looked < most_looked_at; orphan = orphan->next) {
    if (orphan->state.load(std::memory_order_relaxed) != HeapState::orphan) continue;
    ++looked;
    if (!orphan->lock.try_lock()) continue;
    PageId id = orphan->state.load(std::memory_order_relaxed) == HeapState::orphan ? detach_page(orphan, bin) : 0;
    orphan->lock.unlock();
    if (id != 0) return id;
  }
  return 0;
}

size_t orphan_count() { return orphans.load(std::memory_order_relaxed); }

bool is_ending_thread() { return thread_heap == &ended; }

}  // namespace tp
