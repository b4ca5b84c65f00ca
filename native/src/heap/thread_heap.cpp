// From threads to heaps: made at a thread's first slow call, left behind for the next thread when it ends.
//
//   no heap   the thread's heap is the constant empty heap: the first slow call makes or adopts one
//   running   its own heap, state thread
//   ending    the destructor of the pthread key gave the heap up (state orphan); the thread's heap is the constant heap
//             `ended`: what other destructors still allocate comes from the shared fallback heap, block by block
//
// Heaps are never unmapped, and the registry only grows at its head, so it is read without a lock. It grows under one, for a
// fork must not copy a heap in the middle of its first use.
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/options.h"
#include "base/report.h"
#include "checked/checked.h"
#include "heap/heap.h"
#include "heap/pool_bins.h"
#include "profile/profile.h"

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

template <>
TP_EXPORT __thread tp::detail::fast_heap* tp::detail::agreed::thread_heap TP_TLS_MODEL = &tp::empty;

namespace tp {

namespace {

#if TIDEPOOL_CHECKED
// The programs' inline paths see the empty heap at all times, so that every call comes to the checked layer.
__thread detail::fast_heap* thread_heap TP_TLS_MODEL = &empty;
#else
detail::fast_heap*& thread_heap_of_program() { return detail::agreed::thread_heap; }
#define thread_heap thread_heap_of_program()
#endif

std::atomic<Heap*> registry{nullptr};
Lock registry_lock;

// Heaps without a user, by Heap::next_unused. A heap is pushed after its state has changed and popped before it does, and
// no other lock is waited for with a stack's lock held.
struct UnusedHeaps {
  Lock lock;
  Heap* first = nullptr;
  std::atomic<uint32_t> count{0};  // read without the lock

  void push(Heap* heap) {
    Locked locked(lock);
    heap->next_unused = first;
    first = heap;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  Heap* pop() {
    if (count.load(std::memory_order_relaxed) == 0) return nullptr;
    Locked locked(lock);
    Heap* heap = first;
    if (heap == nullptr) return nullptr;
    first = heap->next_unused;
    count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return heap;
  }
  // In the child of a fork; who was pushing or popping does not exist.
  void reset() {
    lock.reset();
    first = nullptr;
    count.store(0, std::memory_order_relaxed);
  }
};
constinit UnusedHeaps orphans;    // of threads that ended
constinit UnusedHeaps destroyed;  // without magazines
std::atomic<uint32_t> serials{0};
std::atomic<Heap*> fallback{nullptr};
pthread_key_t key;
std::atomic<bool> process_is_set_up{false};
Lock set_up_lock;

void before_fork();
void after_fork_in_parent();
void after_fork_in_child();
void end_of_thread(void* heap);

// Once, after the first thread has its heap: these calls may allocate. A program that forks while another thread is in its
// first call would not find the handlers in place, so they are put there when the library is loaded, unless a constructor
// that ran before allocated.
void set_up_process() {
  if (process_is_set_up.exchange(true, std::memory_order_acq_rel)) return;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

__attribute__((constructor)) void set_up_when_loaded() {
  set_up_process();
  if (checked) check::report_if_hidden();
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
  Locked locked(registry_lock);
  heap->next = registry.load(std::memory_order_relaxed);
  registry.store(heap, std::memory_order_release);
}

// A heap in the given state that no one else uses, registered. Null: out of memory.
Heap* make_heap(HeapState state, size_t bytes) {
  auto* heap = static_cast<Heap*>(allocate_or_purge([bytes] { return allocate_meta(bytes); }));
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
  bool caching = !is_instrumented();
  for (size_t bin = 0; bin < bin_count; ++bin) {
    if (heap->top[bin] == nullptr) heap->top[bin] = heap->bottom(bin);
    heap->end[bin] = heap->bottom(bin) + (caching ? magazine_of_bin(bin) : 0);
  }
  heap->base = arenas[0].base;
  heap->bins = arenas[0].bins;
  heap->span = caching ? window_length >> 4 : 0;
}

Heap* adopt_orphan() {
  Heap* heap = orphans.pop();
  if (heap == nullptr) return nullptr;
  Locked locked(heap->lock);
  heap->state.store(HeapState::thread, std::memory_order_relaxed);
  return heap;
}

Heap* fallback_heap() {
  Heap* heap = fallback.load(std::memory_order_acquire);
  if (heap != nullptr) return heap;
  heap = make_heap(HeapState::fallback, sizeof(Heap));
  if (heap == nullptr) return nullptr;
  heap->caches = true;
  Heap* none = nullptr;
  if (fallback.compare_exchange_strong(none, heap, std::memory_order_acq_rel)) return heap;
  // Another thread was faster: the next new thread has this one.
  heap->state.store(HeapState::orphan, std::memory_order_relaxed);
  orphans.push(heap);
  return none;
}

void start_sampling() { profile::set_sampling(static_cast<uint64_t>(options::get(tp_option_sample_bytes))); }

Heap* start_thread_heap() {
  load_options();
  if (!make_key()) return nullptr;
  Heap* heap = adopt_orphan();
  if (heap == nullptr) {
    heap = make_heap(HeapState::thread, sizeof(Heap));
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
  {
    Locked locked(heap->lock);
    collect(heap, now_stamp());
    release_kept(heap, 0, 0);
    heap->span = 0;
    heap->state.store(HeapState::orphan, std::memory_order_relaxed);
  }
  orphans.push(heap);
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
  options::lock.lock();
  pools_lock.lock();
  registry_lock.lock();
  orphans.lock.lock();
  destroyed.lock.lock();
  purge_lock.lock();
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) heap->lock.start_visit();
  if (first_heap() != nullptr && os::has_barrier_of_process()) os::barrier_of_process();
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) heap->lock.finish_visit();
  arena_lock.lock();
}

void after_fork_in_parent() {
  arena_lock.unlock();
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) heap->lock.unlock();
  purge_lock.unlock();
  destroyed.lock.unlock();
  orphans.lock.unlock();
  registry_lock.unlock();
  pools_lock.unlock();
  options::lock.unlock();
  set_up_lock.unlock();
  profile::after_fork_in_parent();
  if (checked) check::after_fork_in_parent();
}

void after_fork_in_child() {
  arena_lock.reset();
  purge_lock.reset();
  destroyed.reset();
  orphans.reset();
  registry_lock.reset();
  pools_lock.reset();
  options::lock.reset();
  set_up_lock.reset();
  bool some_unlisted = forget_returns_under_way();
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    heap->lock.reset(heap == thread_heap);
    note_change(heap);  // another thread's purge may have seen half of it
    if (some_unlisted) relist_full_pages(heap);
    HeapState state = heap->state.load(std::memory_order_relaxed);
    if (state == HeapState::free) destroyed.push(heap);
    if (heap == thread_heap || (state != HeapState::thread && state != HeapState::orphan)) continue;
    heap->state.store(HeapState::orphan, std::memory_order_relaxed);
    orphans.push(heap);
  }
  profile::after_fork_in_child();
  if (checked) check::after_fork_in_child();
  restart_purging_after_fork();
}

}  // namespace

Heap* first_heap() { return registry.load(std::memory_order_acquire); }

void load_options() { options::load(start_sampling); }

bool is_instrumented() {
  int64_t mean = options::get(tp_option_sample_bytes);
  bool samples_each = mean != 0 && static_cast<uint64_t>(mean) < profile::least_mean_of_refills;
  return options::get(tp_option_zero_on_free) != 0 || options::get(tp_option_profile) != 0 || samples_each;
}

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
  Heap* heap = destroyed.pop();
  if (heap == nullptr) heap = make_heap(state, sizeof(Heap) - sizeof(Heap::slots));
  if (heap == nullptr) return nullptr;
  Locked locked(heap->lock);
  heap->state.store(state, std::memory_order_relaxed);
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
  // The next user of the structure has none of this.
  heap->limit_bytes = 0;
  heap->zero_on_free = false;
  heap->name[0] = 0;
  heap->state.store(HeapState::free, std::memory_order_relaxed);
  heap->lock.unlock();
  destroyed.push(heap);
  note_idle_pages(true);
}

PageId take_page_of_orphans(Heap* heap, size_t bin) {
  if (orphan_count() == 0 || !is_thread_heap(heap)) return 0;
  // The caller holds the lock of its heap, so others are only tried.
  if (!orphans.lock.try_lock()) return 0;
  constexpr int most_looked_at = 32;
  int looked = 0;
  PageId id = 0;
  for (Heap* orphan = orphans.first; orphan != nullptr && id == 0 && looked++ < most_looked_at; orphan = orphan->next_unused) {
    if (!orphan->lock.try_lock()) continue;
    id = detach_page(orphan, bin);
    // Before a thread may adopt the orphan and take the page for its own.
    if (id != 0) page_of(id)->owner.store(heap, std::memory_order_release);
    orphan->lock.unlock();
  }
  orphans.lock.unlock();
  return id;
}

size_t orphan_count() { return orphans.count.load(std::memory_order_relaxed); }

bool is_ending_thread() { return thread_heap == &ended; }

}  // namespace tp
