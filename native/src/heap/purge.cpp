// Idle memory goes back to the system: kept empty pages go to the arenas, idle runs and the free parts of partly used
// pages to the system. A background thread does it while the program is idle; tp_purge does it on demand.
//
// The thread is made once the library holds as much as is worth it: by a rent, and by returns that are not part of the C
// library's own thread functions. When everything has been seen it sleeps without a timer as long as there may be more:
// the library holds that much, and a thread of the program has a heap. Otherwise it ends, and the next activity makes
// another: a thread that stayed would keep a process alive whose own threads have all ended, for that ends with the last
// thread when main was left by pthread_exit, or by a fork from another thread.
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/options.h"
#include "heap/heap.h"

namespace tp {

namespace {

constexpr size_t worth_a_thread = size_t{8} << 20;

// So much may stay resident while the program is idle: a program that pauses and goes on would pay for every page again
// (some 0.3 us each), and nobody misses what is less than one more thread's stack. tp_purge leaves nothing.
constexpr size_t kept_while_idle = size_t{8} << 20;

// A trim leaves up to so much idle memory in all heaps together. Otherwise a program that trims after every few calls would
// give back what its next calls touch again, and pay for a look at all its pages each time.
constexpr size_t worth_a_visit = size_t{1} << 20;

std::atomic<bool> activity{false};       // since the thread looked last
std::atomic<bool> thread_started{false};
std::atomic<uint32_t> asleep{0};          // 1: the thread sleeps until it is woken
std::atomic<uint32_t> nobody_wakes_it{0};

bool is_wanted() { return options::get(tp_option_background_purge) != 0 && options::purge_delay_ms() >= 0; }

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
  size_t bytes = 0;      // went back
  size_t idle = 0;       // stays in partly used pages
  bool takes_all() const { return min_idle_ms == 0 && keep == 0; }
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

// What is idle as a whole: blocks in the depot, empty pages, large runs. False: there is more.
bool release_idle(Heap* heap, const Purge& purge) {
  constexpr uint32_t chunks_at_once = 64;
  if (is_idle(purge.now, heap->depot.stamp, purge.min_idle_ms) && empty_depot(heap, chunks_at_once)) return false;
  collect(heap, purge.now);
  release_kept(heap, purge.now, purge.min_idle_ms);
  return true;
}

bool has_changed(const Heap* heap) {
  return heap->changed.load(std::memory_order_relaxed) || heap->may_be_idle.load(std::memory_order_relaxed) != 0;
}

// In short visits, for the owner may be waiting; one will do unless there is much.
void purge_heap(Heap* heap, Purge& purge) {
  if (heap->state.load(std::memory_order_relaxed) == HeapState::free) return;
  // Before anything is looked at: what changes from now on is for the next purge. Who waits for memory looks everywhere:
  // another purge, which took the flag, may not have got to the end.
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
    purge.bytes += discard_free_parts(heap, purge.now, purge.min_idle_ms, &at);
    if (at.bin == bin_count && purge.keep != 0) purge.idle += idle_parts(heap);
  }
}

uint32_t pause_ms(int64_t delay) {
  int64_t pause = delay / 4;
  return static_cast<uint32_t>(pause < 10 ? 10 : pause > 250 ? 250 : pause);
}

bool is_worth_a_thread() { return arena_held_slices.load(std::memory_order_relaxed) << slice_shift >= worth_a_thread; }

// There may be more to do, and someone who does it.
bool may_be_needed() {
  if (!is_worth_a_thread()) return false;
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    if (is_thread_heap(heap)) return true;
  }
  return false;
}

// Who notes activity stores it first and then looks whether the thread sleeps; here it is the other way round.
void sleep_until_activity() {
  asleep.store(1, std::memory_order_seq_cst);
  if (!activity.load(std::memory_order_seq_cst)) os::wait(&asleep, 1, 0);
  asleep.store(0, std::memory_order_relaxed);
}

// True when the thread may end: whoever notes activity from now on sees that there is none, and makes another.
bool sign_off() {
  thread_started.store(false, std::memory_order_seq_cst);
  if (!activity.load(std::memory_order_seq_cst)) return true;
  return thread_started.exchange(true, std::memory_order_seq_cst);
}

void* run(void*) {
  uint64_t last_activity = os::now_ms();
  for (;;) {
    if (!is_wanted()) {
      activity.store(false, std::memory_order_relaxed);
      if (sign_off()) return nullptr;
      continue;
    }
    int64_t delay = options::purge_delay_ms();
    os::wait(&nobody_wakes_it, 0, pause_ms(delay));
    uint64_t now = os::now_ms();
    if (activity.exchange(false, std::memory_order_acq_rel)) last_activity = now;
    purge(static_cast<uint32_t>(delay), kept_while_idle);
    // Whatever became idle before the last activity is old enough now, so everything has been seen.
    if (now - last_activity <= static_cast<uint64_t>(delay) * 2 + 1000) continue;
    if (may_be_needed()) {
      sleep_until_activity();
      last_activity = os::now_ms();
    } else if (sign_off()) {
      return nullptr;
    }
  }
}

// No lock is held: making a thread allocates.
TP_NOINLINE void start_thread() {
  if (thread_started.exchange(true, std::memory_order_acq_rel)) return;
  int saved = errno;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256 * 1024);  // the program's thread-local variables lie there too
  pthread_t thread;
  // When it cannot be made, calls of tp_purge remain; it is not tried again.
  if (pthread_create(&thread, &attributes, run, nullptr) == 0) pthread_setname_np(thread, "tidepool-purge");
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = saved;
}

TP_NOINLINE void note_activity(bool may_make_thread) {
  if (!is_wanted()) return;
  if (!thread_started.load(std::memory_order_relaxed) && !(is_worth_a_thread() && may_make_thread)) return;
  // First this, then a look for the thread; the thread signs off in the other order.
  activity.store(true, std::memory_order_seq_cst);
  if (asleep.exchange(0, std::memory_order_seq_cst) == 1) os::wake_one(&asleep);
  if (may_make_thread && !thread_started.load(std::memory_order_seq_cst)) start_thread();
}

}  // namespace

void note_idle_pages(bool may_make_thread) {
  if (!activity.load(std::memory_order_relaxed)) note_activity(may_make_thread);
}

// Under the lock that making a thread takes, the C library frees the vector of an ended thread's dynamic variables: 16
// bytes for each of 16 modules and more. A detached thread does so itself, after its heap was given up, if it ever had one.
bool may_make_thread_at_free(uint32_t block_size) {
  return known_heap() != nullptr && (block_size <= 256 || block_size > 768);
}

void make_purging_thread_if_worth_it() {
  if (!thread_started.load(std::memory_order_relaxed) && is_worth_a_thread() && is_wanted()) start_thread();
}

namespace {

// Whether a heap has changed in a way that may leave any amount idle, or enough blocks came back since the last purge.
bool is_worth_a_visit() {
  size_t bytes = 0;
  for (const Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    if (heap->state.load(std::memory_order_relaxed) == HeapState::free) continue;
    if (heap->changed.load(std::memory_order_relaxed)) return true;
    bytes += heap->may_be_idle.load(std::memory_order_relaxed);
  }
  return bytes >= worth_a_visit;
}

size_t purge_all(uint32_t min_idle_ms, size_t keep, bool waits) {
  Purge purge{.now = now_stamp(), .min_idle_ms = min_idle_ms, .keep = keep, .waits = waits};
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) purge_heap(heap, purge);
  return purge.bytes + purge_runs(purge.now, min_idle_ms, keep > purge.idle ? keep - purge.idle : 0);
}

}  // namespace

size_t purge(uint32_t min_idle_ms, size_t keep) { return purge_all(min_idle_ms, keep, false); }

size_t trim(size_t keep) { return is_worth_a_visit() ? purge(0, keep) : purge_runs(now_stamp(), 0, keep); }

void purge_for_allocation() { purge_all(0, 0, true); }

void restart_purging_after_fork() {
  thread_started.store(false, std::memory_order_relaxed);
  activity.store(false, std::memory_order_relaxed);
  asleep.store(0, std::memory_order_relaxed);
}

}  // namespace tp
