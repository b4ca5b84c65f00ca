#include "checked/records.h"

#if TIDEPOOL_CHECKED

#include <string.h>

#include "base/report.h"
#include "checked/guard.h"
#include "checked/layout.h"
#include "checked/secret.h"

namespace tp::check {

constinit Shard shards[shard_count] = {};

namespace {

constinit std::atomic<uint64_t> serial_{0};

constexpr uintptr_t removed_mark = 1;
constexpr uint32_t first_capacity = 256;

Record* place_for(Record* table, uint32_t capacity, uintptr_t block) {
  uint32_t at = static_cast<uint32_t>(hash_of(block) >> 8) & (capacity - 1);
  while (table[at].block > removed_mark) at = (at + 1) & (capacity - 1);
  return &table[at];
}

// A signature covers the record's address in no table, so records may move when a table grows.
bool resize(Shard& shard, uint32_t capacity) {
  size_t bytes = round_up(capacity * sizeof(Record), os::page_size());
  auto* table = static_cast<Record*>(os::reserve(bytes, os::page_size()));
  if (table == nullptr) return false;
  if (!os::commit(table, bytes)) {
    os::release(table, bytes);
    return false;
  }
  for (uint32_t i = 0; i < shard.capacity; ++i) {
    const Record& record = shard.table[i];
    if (record.block > removed_mark) *place_for(table, capacity, record.block) = record;
  }
  if (shard.table != nullptr) os::release(shard.table, round_up(shard.capacity * sizeof(Record), os::page_size()));
  shard.table = table;
  shard.capacity = capacity;
  shard.taken -= shard.removed;
  shard.removed = 0;
  return true;
}

bool make_room(Shard& shard) {
  if (shard.capacity == 0) return resize(shard, first_capacity);
  if (shard.taken + 1 <= shard.capacity / 4 * 3) return true;
  uint32_t in_use = shard.taken - shard.removed;
  return resize(shard, in_use > shard.capacity / 2 ? shard.capacity * 2 : shard.capacity);
}

Record* find_in(Shard& shard, uintptr_t block) {
  if (shard.capacity == 0 || block <= removed_mark) return nullptr;
  uint32_t at = static_cast<uint32_t>(hash_of(block) >> 8) & (shard.capacity - 1);
  for (; shard.table[at].block != 0; at = (at + 1) & (shard.capacity - 1)) {
    if (shard.table[at].block == block) {
      verify_signature(shard.table[at]);
      return &shard.table[at];
    }
  }
  return nullptr;
}

bool is_forgettable(const Record& record) { return record.state == State::retired || record.state == State::destroyed; }

void forget_oldest(Shard& shard, const Shard::Retired& oldest) {
  Record* record = find_in(shard, oldest.block);
  if (record == nullptr || record->serial != oldest.serial || !is_forgettable(*record)) return;
  *record = {};
  record->block = removed_mark;
  ++shard.removed;
}

}  // namespace

uint64_t next_serial() { return serial_.fetch_add(1, std::memory_order_relaxed) + 1; }

uint64_t signature_of(const Record& record) {
  uint64_t words[7];
  memcpy(words, &record, sizeof(words));
  uint64_t hash = secret();
  for (uint64_t word : words) hash = mix(hash ^ word) + 0x9e3779b97f4a7c15u;
  return hash;
}
static_assert(offsetof(Record, signature) == 7 * sizeof(uint64_t));

void verify_signature(const Record& record) {
  if (TP_UNLIKELY(record.signature != signature_of(record))) {
    fatal("a record of the checked library was overwritten", reinterpret_cast<const void*>(record.block));
  }
}

void retire_in(Shard& shard, Record* record, State state) {
  record->state = state;
  record->signature = signature_of(*record);
  Shard::Retired& place = shard.retired[shard.retired_next++ % Shard::most_retired];
  Shard::Retired oldest = place;
  place = {record->block, record->serial};
  if (oldest.block != 0) forget_oldest(shard, oldest);
}

Record* RecordAccess::find() { return find_in(shard_, block_); }

bool RecordAccess::insert(const Record& record) {
  Record* place = find();
  if (place != nullptr && !is_forgettable(*place)) {
    fatal("the core handed out a block that is in use", reinterpret_cast<const void*>(record.block));
  }
  if (place == nullptr) {
    if (!make_room(shard_)) return false;
    place = place_for(shard_.table, shard_.capacity, record.block);
    if (place->block == removed_mark) {
      --shard_.removed;
    } else {
      ++shard_.taken;
    }
  }
  *place = record;
  place->signature = signature_of(record);
  return true;
}

void RecordAccess::sign(Record* record) { record->signature = signature_of(*record); }

void RecordAccess::retire(Record* record, State state) { retire_in(shard_, record, state); }

void RecordAccess::unlock() {
  if (locked_) shard_.lock.unlock();
  locked_ = false;
}

bool find_containing(const void* address, Record* found) {
  auto wanted = reinterpret_cast<uintptr_t>(address);
  bool any = false;
  for_each_record([&](Shard&, const Record& record) {
    size_t extent = record.guarded ? guarded_extent(record) : layout_of(record.size, record.alignment()).extent;
    if (wanted - record.memory >= extent) return true;
    if (!any || found->state > record.state) *found = record;
    any = true;
    return true;
  });
  return any;
}

void lock_all_shards() {
  for (Shard& shard : shards) shard.lock.lock();
}

void unlock_all_shards() {
  for (Shard& shard : shards) shard.lock.unlock();
}

void reset_all_shards() {
  for (Shard& shard : shards) shard.lock.reset();
}

}  // namespace tp::check

#endif
