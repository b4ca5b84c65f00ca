#include "heap/thread_heap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "heap/fork.h"
#include "heap/kept.h"
#include "heap/magazines.h"
#include "heap/refill.h"
#include "heap/registry.h"
#include "os/assert.h"
#include "pages/stamp.h"
#include "profile/heap_profile.h"
#include "profile/sample_log.h"

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

Lock thread_setup_lock;

namespace {

#if TIDEPOOL_CHECKED
// The programs' inline paths see the empty heap at all times, so that every call comes to the checked layer.
__thread detail::fast_heap* thread_heap TP_TLS_MODEL = &empty;
#else
detail::fast_heap*& thread_heap_of_program() { return detail::agreed::thread_heap; }
#define thread_heap thread_heap_of_program()
#endif

std::atomic<Heap*> fallback{nullptr};
pthread_key_t key;

void end_of_thread(void* heap);

// The key must exist before the first heap is handed to a thread; making it does not allocate.
bool make_key() {
  static std::atomic<bool> made{false};
  if (made.load(std::memory_order_acquire)) return true;
  Locked locked(thread_setup_lock);
  if (made.load(std::memory_order_relaxed)) return true;
  if (pthread_key_create(&key, end_of_thread) != 0) return false;
  made.store(true, std::memory_order_release);
  return true;
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
  Heap* heap = take_orphan();
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
  add_orphan(heap);
  return none;
}

void start_sampling() {
  auto mean = static_cast<uint64_t>(options::get(tp_option_sample_bytes));
  profile::sample_log::open(secure_getenv("TIDEPOOL_SAMPLE_LOG"), mean);
  profile::set_sampling(mean);
}

Heap* start_thread_heap() {
  load_options();
  if (!make_key()) return nullptr;
  Heap* heap = adopt_orphan();
  if (heap == nullptr) {
    heap = make_heap(HeapState::thread, sizeof(Heap));
    if (heap == nullptr) return nullptr;
  }
  TP_ASSERT(is_thread_heap(heap));
  prepare_magazines(heap);
  heap->lock.open_for_owner();
  thread_heap = heap;
  // From here on allocating works, also for the calls below.
  pthread_setspecific(key, heap);
  set_up_fork();
  return heap;
}

void make_orphan(Heap* heap) {
  TP_ASSERT(is_thread_heap(heap) && is_ending_thread());
  heap->lock.close_for_owner();
  empty_magazines(heap);
  {
    Locked locked(heap->lock);
    collect(heap, now_stamp());
    release_kept(heap, 0, 0);
    heap->span = 0;
    heap->state.store(HeapState::orphan, std::memory_order_relaxed);
  }
  add_orphan(heap);
}

void end_of_thread(void* value) {
  auto* heap = static_cast<Heap*>(value);
  int saved = errno;
  thread_heap = &ended;
  make_orphan(heap);
  errno = saved;
}

}  // namespace

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

bool is_ending_thread() { return thread_heap == &ended; }

}  // namespace tp
