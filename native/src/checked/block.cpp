#include "checked/block.h"

#if TIDEPOOL_CHECKED

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/options.h"
#include "checked/annotate.h"
#include "checked/core.h"
#include "checked/guard.h"
#include "checked/misuse.h"
#include "checked/process.h"
#include "checked/quarantine.h"
#include "checked/records.h"
#include "profile/heap_profile.h"
#include "profile/size_histogram.h"

namespace tp::check {

namespace {

constinit std::atomic<size_t> live_bytes{0};

// Aligns a block to the largest power of two that divides its class, up to a page, as the release library does.
size_t natural_alignment(size_t size) {
  if (size > max_class_size) return 4096;
  size_t block_size = size_of_bin(bin_of(size));
  size_t alignment = block_size & (0 - block_size);
  return alignment < 4096 ? alignment : 4096;
}

bool map_from_core(Record& record, Heap* heap) {
  Layout layout = layout_of(record.size, record.alignment());
  if (layout.extent > most_core_bytes) return false;  // no reason to give up the quarantine
  void* memory = core_allocate(heap, layout.extent, record.alignment());
  if (memory == nullptr) {
    empty_quarantine("an allocation that found no memory");
    core_purge();
    memory = core_allocate(heap, layout.extent, record.alignment());
  }
  if (memory == nullptr) return false;
  record.memory = reinterpret_cast<uintptr_t>(memory);
  record.block = record.memory + layout.front;
  return true;
}

bool find_memory(Record& record, Owner* owner, size_t alignment) {
  bool guard = time_for_guard(record.size, alignment);
  // A guarded block ends as close to its guard page as what was asked for allows.
  record.alignment_log2 = static_cast<uint8_t>(log2_floor(alignment < min_alignment ? min_alignment : alignment));
  if (guard && map_guarded(record)) return true;
  if (alignment == 0) record.alignment_log2 = static_cast<uint8_t>(log2_floor(natural_alignment(record.size)));
  return map_from_core(record, owner != nullptr ? owner->heap : nullptr);
}

void count_live(Owner* owner, size_t change) {
  live_bytes.fetch_add(change, std::memory_order_relaxed);
  if (owner != nullptr) owner->live_bytes.fetch_add(change, std::memory_order_relaxed);
}

// Annotates under the lock as well: is_valid() opens and closes the same bytes for AddressSanitizer.
bool insert(const Record& record, bool zeroed) {
  RecordAccess access(record.begin());
  if (!access.insert(record)) return false;
  annotate_live(record, zeroed);
  return true;
}

void count_request(const Record& record) {
  if (record.owner == nullptr || record.owner->block_size == 0) profile::note_exact(record.size);
  if (profile::take_samples(record.size, 1) != 0) profile::record(record.begin(), record.size);
}

bool is_of_destroyed(const Record& record) { return record.state == State::destroyed; }

bool size_fits(const Record& record, const Claim& claim) { return !claim.with_size || claim.size == record.size; }

bool alignment_fits(const Record& record, const Claim& claim) {
  return claim.alignment == 0 || claim.alignment == record.alignment() ||
         (claim.alignment <= min_alignment && (!record.aligned || record.alignment() == min_alignment));
}

bool owner_fits(const Record& record, const Claim& claim) { return !claim.with_owner || claim.owner == record.owner; }

// Reports the first thing that is wrong with a record that was found; false: nothing is.
bool report_mismatch(const Record& record, const Claim& claim, stacks::StackId stack) {
  if (is_of_destroyed(record)) {
    report_block_of_destroyed(record, claim.call, stack);
  } else if (record.state != State::live) {
    report_freed_block(record, claim.frees, claim.call, stack);
  } else if (!owner_fits(record, claim)) {
    report_heap_mismatch(record, claim.owner, claim.call, stack);
  } else if (!size_fits(record, claim)) {
    report_size_mismatch(record, claim.size, claim.call, stack);
  } else if (!alignment_fits(record, claim)) {
    report_alignment_mismatch(record, claim.alignment, claim.call, stack);
  } else {
    return false;
  }
  return true;
}

bool is_sound(const Record& record, const Claim& claim) {
  return record.state == State::live && owner_fits(record, claim) && size_fits(record, claim) && alignment_fits(record, claim);
}

// Finds the record and verifies the claim. Holds the lock only when it returns the record.
Record* find_sound(RecordAccess& access, const void* block, const Claim& claim, stacks::StackId stack) {
  Record* found = access.find();
  if (found == nullptr) {
    access.unlock();
    report_unknown_pointer(block, claim.call, stack);
    return nullptr;
  }
  Record record = *found;
  ptrdiff_t damage = is_sound(record, claim) ? damage_around(record) : intact;
  if (is_sound(record, claim) && damage == intact) return found;
  access.unlock();
  if (!report_mismatch(record, claim, stack)) report_overflow(record, damage, claim.call, stack);
  return nullptr;
}

void wipe(const Record& record) {
  if (record.guarded) {
    close_guarded(record);
  } else {
    poison(record);
  }
  annotate_freed(record);
}

// Leaves a block to the core, which frees the heap's memory as a whole; guarded blocks are not part of that.
void leave_to_core(const Record& record) {
  if (record.state == State::live) annotate_freed(record);
  annotate_returned(record);
  if (record.guarded) unmap_guarded(record);
}

// Wipes the block and puts it into quarantine, or gives it back. Its record keeps other threads from freeing it.
void put_away(Record& record) {
  wipe(record);
  RecordAccess access(record.begin());
  Record* found = access.find();
  if (found == nullptr || found->serial != record.serial || found->state != State::freeing) return;  // destroyed meanwhile
  if (record.guarded || record.size <= most_quarantined_size) {
    found->state = State::quarantined;
    access.sign(found);
    record = *found;
    access.unlock();
    quarantine(record);
  } else {
    annotate_returned(*found);
    access.retire(found, State::retired);
    access.unlock();
    give_memory_back(record);
  }
}

}  // namespace

size_t total_live_bytes() { return live_bytes.load(std::memory_order_relaxed); }

void* allocate_block(Owner* owner, size_t size, size_t alignment, bool zero) {
  start();
  Record record{};
  record.size = size;
  record.owner = owner;
  if (owner != nullptr) record.owner_serial = owner->serial;
  record.aligned = alignment != 0;
  record.zero_on_free = options::get(tp_option_zero_on_free) != 0 || (owner != nullptr && owner->zero_on_free);
  if (alignment != 0 && (!is_power_of_two(alignment) || alignment > max_alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  if (size > max_size / 2 || !find_memory(record, owner, alignment)) {
    errno = ENOMEM;
    return nullptr;
  }
  record.serial = next_serial();
  record.state = State::live;
  record.allocated = stacks::capture(checked_depth);
  arm(record);
  if (zero) {
    memset(record.begin(), 0, size);
  } else {
    fill_new(record.begin(), size);
  }
  if (!insert(record, zero)) {
    give_memory_back(record);
    errno = ENOMEM;
    return nullptr;
  }
  count_live(owner, size);
  count_request(record);
  return record.begin();
}

void release_block(void* block, const Claim& claim) {
  stacks::StackId stack = stacks::capture(checked_depth);
  RecordAccess access(block);
  Record* found = find_sound(access, block, claim, stack);
  if (found == nullptr) return;
  found->state = State::freeing;
  found->freed = stack;
  access.sign(found);
  Record record = *found;
  // Makes a thread that destroys the heap meanwhile wait: the block is written to and may go back.
  if (record.owner != nullptr) record.owner->returning.fetch_add(1, std::memory_order_relaxed);
  access.unlock();
  profile::forget(block);
  count_live(record.owner, 0 - record.size);
  put_away(record);
  if (record.owner != nullptr) record.owner->returning.fetch_sub(1, std::memory_order_release);
}

bool examine_block(const void* block, const Claim& claim, Record* record) {
  RecordAccess access(block);
  Record* found = access.find();
  if (TP_LIKELY(found != nullptr && is_sound(*found, claim) && damage_around(*found) == intact)) {
    *record = *found;
    return true;
  }
  access.unlock();
  // The stack is needed for the message alone.
  stacks::StackId stack = stacks::capture(checked_depth);
  RecordAccess again(block);
  found = find_sound(again, block, claim, stack);
  if (found != nullptr) *record = *found;
  return found != nullptr;
}

void note_damage(Record& record) {
  if (record.state != State::quarantined) return;
  record.state = State::damaged;
  record.signature = signature_of(record);
}

// Reports the first damaged block among those that are chosen.
template <typename Choice>
static bool verify_blocks(Choice is_chosen, const char* call) {
  Record record{};
  ptrdiff_t damage = intact;
  for_each_record([&](Shard&, Record& each) {
    if (!is_chosen(each)) return true;
    if (each.state == State::live) damage = damage_around(each);
    if (each.state == State::quarantined && !each.guarded) damage = damage_inside(each);
    if (damage == intact) return true;
    record = each;
    note_damage(each);
    return false;
  });
  if (damage == intact) return true;
  if (record.state == State::live) {
    report_overflow(record, damage, call, stacks::capture(checked_depth));
  } else {
    report_write_after_free(record, damage, call);
  }
  return false;
}

bool verify_blocks_of(const Owner* owner, const char* call) {
  return verify_blocks([owner](const Record& each) { return each.owner == owner && each.owner_serial == owner->serial; }, call);
}

bool verify_all_blocks(const char* call) {
  return verify_blocks([](const Record&) { return true; }, call);
}

void destroy_blocks_of(Owner* owner, stacks::StackId stack) {
  bool some_are_freed_now;
  do {
    some_are_freed_now = false;
    for_each_record([&](Shard& shard, Record& each) {
      if (each.owner != owner || each.owner_serial != owner->serial) return true;
      if (each.state == State::retired || each.state == State::destroyed) return true;
      // Another thread's until it lies in quarantine. A fork leaves that thread behind, and then it goes as the others do.
      if (each.state == State::freeing && owner->returning.load(std::memory_order_relaxed) != 0) {
        some_are_freed_now = true;
        return true;
      }
      if (each.state == State::live) {
        profile::forget(each.begin());
        live_bytes.fetch_sub(each.size, std::memory_order_relaxed);
        if (!each.guarded && each.zero_on_free) poison(each);
      }
      each.freed = stack;
      leave_to_core(each);
      retire_in(shard, &each, State::destroyed);
      return true;
    });
    // Blocks that left quarantine a moment ago may still be on their way to the heap as well.
    while (owner->returning.load(std::memory_order_acquire) != 0) sched_yield();
  } while (some_are_freed_now);
  owner->live_bytes.store(0, std::memory_order_relaxed);
}

}  // namespace tp::check

#endif
