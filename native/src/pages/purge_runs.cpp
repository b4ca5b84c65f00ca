#include "pages/purge_runs.h"

#include "base/options.h"
#include "os/assert.h"
#include "pages/free_runs.h"
#include "pages/runs.h"
#include "pages/stamp.h"

namespace tp {

Lock purge_lock;

namespace {

size_t being_purged;
size_t purged;

uint32_t next_purge_number() {
  static std::atomic<uint32_t> last{0};
  uint32_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number != 0 ? number : next_purge_number();  // 0: never refused
}

struct IdleRun {
  PageId id;
  uint32_t length;
  IdleSince since;
  bool gone;
};
constexpr uint32_t most_idle_runs = 64;

// One call of purge_runs.
struct RunPurge {
  uint32_t now, min_idle_ms;
  size_t keep_slices;
  PurgeCause cause;
  uint32_t number = next_purge_number();
  size_t given = 0;  // slices

  bool is_due(const Page* run) const {
    uint32_t extra_ms = cause == PurgeCause::idleness ? run->idle_since().extra_ms : 0;
    return is_idle(now, run->stamp, min_idle_ms + extra_ms) && run->refused_in() != number;
  }
};

// Dirty runs that are old enough, out of their lists and of at most so many slices together; returns how many. Many at a
// time, for each call looks at all those that are too young.
//
// The system refuses memory that the program has locked. Such runs are marked with the number of the purge, which leaves them
// alone from then on.
uint32_t take_idle(const RunPurge& purge, size_t most, IdleRun* runs) {
  uint32_t count = 0;
  for (const RunLists (&kind)[2] : free_runs) {
    for (uint32_t filled = kind[1].filled; filled != 0; filled &= filled - 1) {
      for (PageId id = kind[1].head[__builtin_ctz(filled)], next = 0; id != 0; id = next) {
        if (count == most_idle_runs || most == 0) return count;
        next = page_of(id)->next;
        if (!purge.is_due(page_of(id))) continue;
        // Of the last run only what is beyond the part to keep.
        uint32_t length = page_of(id)->run_length();
        if (length > most) id = split_run(id, length - static_cast<uint32_t>(most));
        IdleSince since = page_of(id)->idle_since();
        length = remove_run(id);
        most -= length;
        runs[count++] = {id, length, since, false};
      }
    }
  }
  return count;
}

// One batch of idle runs goes to the system, without the arena lock if so wished. False: there is no other.
bool purge_batch(RunPurge& purge, bool unlock_meanwhile) {
  TP_ASSERT(arena_lock.is_held());
  if (dirty_slices <= purge.keep_slices) return false;
  IdleRun runs[most_idle_runs];
  uint32_t count = take_idle(purge, dirty_slices - purge.keep_slices, runs);
  uint32_t gone_at = purge.cause == PurgeCause::idleness ? purge.now : 0;
  size_t slices = 0, given = 0;
  for (uint32_t i = 0; i < count; ++i) slices += runs[i].length;
  dirty_slices += slices;  // until it is done
  being_purged += slices;
  if (unlock_meanwhile) arena_lock.unlock();
  for (uint32_t i = 0; i < count; ++i) runs[i].gone = os::discard(address_of(runs[i].id), size_t{runs[i].length} << slice_shift);
  if (unlock_meanwhile) arena_lock.lock();
  dirty_slices -= slices;
  being_purged -= slices;
  for (uint32_t i = 0; i < count; ++i) {
    const IdleRun& run = runs[i];
    PageId whole = add_run(run.id, run.length, !run.gone, run.gone ? IdleSince(gone_at) : run.since);
    if (run.gone) given += run.length;
    else page_of(whole)->set_refused_in(purge.number);
  }
  purged += given;
  purge.given += given;
  note_held_slices();
  return count != 0;
}

}  // namespace

size_t purge_runs(uint32_t now, uint32_t min_idle_ms, size_t keep_bytes, PurgeCause cause) {
  RunPurge purge{.now = now, .min_idle_ms = min_idle_ms, .keep_slices = keep_bytes >> slice_shift, .cause = cause};
  for (bool more = true; more;) {
    Locked purging(purge_lock);
    Locked locked(arena_lock);
    // Under a limit the lock stays: no other thread may take memory in place of what has not gone yet.
    more = purge_batch(purge, options::memory_limit() == 0);
  }
  return purge.given << slice_shift;
}

void purge_runs_locked() {
  RunPurge purge{.now = now_stamp(), .min_idle_ms = 0, .keep_slices = 0, .cause = PurgeCause::caller};
  while (purge_batch(purge, false)) {
  }
}

size_t slices_being_purged() { return being_purged; }
size_t slices_purged() { return purged; }

}  // namespace tp
