#include "heap/purge_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/options.h"
#include "heap/purge.h"
#include "heap/registry.h"
#include "heap/thread_heap.h"
#include "os/assert.h"
#include "pages/runs.h"

namespace tp {

namespace {

constexpr size_t worth_a_thread = size_t{8} << 20;

// Bytes that may stay resident while the program is idle: a program that pauses would pay for every page again (some 0.3 us
// each), and this is less than the stack of one more thread. tp_purge leaves nothing.
constexpr size_t kept_while_idle = size_t{8} << 20;

std::atomic<bool> activity{false};       // since the thread looked last
std::atomic<bool> thread_started{false};
std::atomic<uint32_t> asleep{0};          // 1: the thread sleeps until it is woken
std::atomic<uint32_t> nobody_wakes_it{0};
std::atomic<bool> a_heap_has_learned{false};

bool is_wanted() { return options::get(tp_option_background_purge) != 0 && options::purge_delay_ms() >= 0; }

uint32_t pause_ms(int64_t delay) {
  int64_t pause = delay / 4;
  return static_cast<uint32_t>(pause < 10 ? 10 : pause > 250 ? 250 : pause);
}

// Returns after how much time without activity all that is idle has been seen.
uint64_t seen_after_ms(int64_t first_delay) {
  auto delay = static_cast<uint64_t>(first_delay);
  if (a_heap_has_learned.load(std::memory_order_relaxed) && delay < PurgeDelay::longest_ms) delay = PurgeDelay::longest_ms;
  return delay * 2 + 1000;
}

bool is_worth_a_thread() { return arena_held_slices.load(std::memory_order_relaxed) << slice_shift >= worth_a_thread; }

// True when more may become idle: the library holds much, and a thread of the program has a heap.
bool may_be_needed() {
  if (!is_worth_a_thread()) return false;
  for (Heap* heap = first_heap(); heap != nullptr; heap = heap->next) {
    if (is_thread_heap(heap)) return true;
  }
  return false;
}

// Stores `asleep` first and reads `activity` then; note_activity does it the other way round, so one of them sees the other.
void sleep_until_activity() {
  asleep.store(1, std::memory_order_seq_cst);
  if (!activity.load(std::memory_order_seq_cst)) os::wait(&asleep, 1, 0);
  asleep.store(0, std::memory_order_relaxed);
}

// True when the thread may end: from now on note_activity sees that there is none, and makes another.
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
    purge_idle(static_cast<uint32_t>(delay), kept_while_idle);
    // All that became idle before the last activity is old enough now, so everything has been seen.
    if (now - last_activity <= seen_after_ms(delay)) continue;
    if (may_be_needed()) {
      sleep_until_activity();
      last_activity = os::now_ms();
    } else if (sign_off()) {
      return nullptr;
    }
  }
}

// Makes the thread. No lock is held, because that allocates.
TP_NOINLINE void start_thread() {
  TP_ASSERT(known_heap() == nullptr || !known_heap()->lock.owner_is_inside());
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
  // Store first, then look for the thread; the thread signs off in the other order.
  activity.store(true, std::memory_order_seq_cst);
  if (asleep.exchange(0, std::memory_order_seq_cst) == 1) os::wake_one(&asleep);
  if (may_make_thread && !thread_started.load(std::memory_order_seq_cst)) start_thread();
}

}  // namespace

void note_idle_pages(bool may_make_thread) {
  if (!activity.load(std::memory_order_relaxed)) note_activity(may_make_thread);
}

// The C library frees the vector of an ended thread's dynamic variables under the lock that making a thread takes: 16 bytes
// for each of 16 modules and more. A detached thread does so itself, after its heap has become an orphan, if it had one.
bool may_make_thread_at_free(uint32_t block_size) {
  return known_heap() != nullptr && (block_size <= 256 || block_size > 768);
}

void start_purge_thread_if_worth_it() {
  if (!thread_started.load(std::memory_order_relaxed) && is_worth_a_thread() && is_wanted()) start_thread();
}

void note_learned_delay() { a_heap_has_learned.store(true, std::memory_order_relaxed); }

void forget_purge_thread() {
  thread_started.store(false, std::memory_order_relaxed);
  activity.store(false, std::memory_order_relaxed);
  asleep.store(0, std::memory_order_relaxed);
}

}  // namespace tp
