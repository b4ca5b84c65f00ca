#include "checked/quarantine.h"

#if TIDEPOOL_CHECKED

#include "checked/annotate.h"
#include "checked/core.h"
#include "checked/guard.h"
#include "checked/layout.h"
#include "checked/misuse.h"
#include "checked/owner.h"
#include "checked/records.h"

namespace tp::check {

namespace {

struct Waiting {
  uintptr_t block;  // the record may be another one by now, when the block's heap was destroyed
  uint64_t serial;
  size_t bytes;
};

struct Queue {
  Lock lock;
  size_t first;
  size_t count;
  std::atomic<size_t> bytes;
  Waiting waiting[quarantine_blocks];
};

constinit Queue queue{};

bool is_full() { return queue.count == quarantine_blocks || queue.bytes.load(std::memory_order_relaxed) > quarantine_bytes; }

bool pop_oldest(Waiting* oldest, bool always) {
  Locked locked(queue.lock);
  if (queue.count == 0 || !(always || is_full())) return false;
  *oldest = queue.waiting[queue.first];
  queue.first = (queue.first + 1) % quarantine_blocks;
  --queue.count;
  queue.bytes.fetch_sub(oldest->bytes, std::memory_order_relaxed);
  return true;
}

bool push_newest(const Waiting& newest) {
  Locked locked(queue.lock);
  if (queue.count == quarantine_blocks) return false;
  queue.waiting[(queue.first + queue.count) % quarantine_blocks] = newest;
  ++queue.count;
  queue.bytes.fetch_add(newest.bytes, std::memory_order_relaxed);
  return true;
}

// Damaged blocks keep their memory: code that wrote there will do so again.
void release_verified(const Waiting& oldest, const char* found_by) {
  RecordAccess access(reinterpret_cast<void*>(oldest.block));
  Record* found = access.find();
  if (found == nullptr || found->serial != oldest.serial || found->state != State::quarantined) return;
  ptrdiff_t damage = found->guarded ? intact : damage_inside(*found);
  if (damage != intact) {
    found->state = State::damaged;
    access.sign(found);
    Record record = *found;
    access.unlock();
    report_write_after_free(record, damage, found_by);
    return;
  }
  annotate_returned(*found);
  access.retire(found, State::retired);
  Record record = *found;
  if (record.owner != nullptr) record.owner->returning.fetch_add(1, std::memory_order_relaxed);
  access.unlock();
  give_memory_back(record);
  if (record.owner != nullptr) record.owner->returning.fetch_sub(1, std::memory_order_release);
}

}  // namespace

void give_memory_back(const Record& record) {
  if (record.guarded) return unmap_guarded(record);
  core_free(reinterpret_cast<void*>(record.memory));
}

void quarantine(const Record& record) {
  Waiting newest{record.block, record.serial, surroundings_of(record).size};
  Waiting oldest;
  while (!push_newest(newest)) {
    if (pop_oldest(&oldest, false)) release_verified(oldest, "a later free");
  }
  while (pop_oldest(&oldest, false)) release_verified(oldest, "a later free");
}

size_t empty_quarantine(const char* found_by) {
  size_t bytes = 0;
  size_t count;
  {
    Locked locked(queue.lock);
    count = queue.count;
  }
  // At most as many as at the start: other threads may add as fast as this one takes.
  for (Waiting oldest; count != 0 && pop_oldest(&oldest, true); --count) {
    bytes += oldest.bytes;
    release_verified(oldest, found_by);
  }
  return bytes;
}

size_t quarantined_bytes() { return queue.bytes.load(std::memory_order_relaxed); }

void lock_quarantine() { queue.lock.lock(); }
void unlock_quarantine() { queue.lock.unlock(); }
void reset_quarantine() { queue.lock.reset(); }

}  // namespace tp::check

#endif
