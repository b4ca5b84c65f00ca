// The table of records: open addressing in 64 shards by address, each under its own lock.
//
// No function calls the core or a handler with a shard's lock held. Records are signed; one whose signature does not fit
// was written by something else than this file, and the process ends.
#pragma once

#include "checked/record.h"
#include "checked/secret.h"
#include "os/lock.h"

namespace tp::check {

struct Shard {
  Lock lock;
  Record* table;
  uint32_t capacity;  // a power of two
  uint32_t taken;     // places that are not empty, removed ones included
  uint32_t removed;
  // Blocks that are remembered although their memory is gone; the oldest makes room for the newest.
  static constexpr uint32_t most_retired = 1024;
  struct Retired {
    uintptr_t block;
    uint64_t serial;
  } retired[most_retired];
  uint32_t retired_next;
};

inline constexpr uint32_t shard_count = 64;
extern Shard shards[shard_count];

inline uint64_t hash_of(uintptr_t block) { return mix(block >> 4); }

// Holds the lock of the shard that a block's record is or would be in.
class RecordAccess {
 public:
  explicit RecordAccess(const void* block)
      : block_(reinterpret_cast<uintptr_t>(block)), shard_(shards[hash_of(block_) % shard_count]) {
    shard_.lock.lock();
  }
  ~RecordAccess() { unlock(); }
  RecordAccess(const RecordAccess&) = delete;
  RecordAccess& operator=(const RecordAccess&) = delete;

  // Returns the record, verified; null: this address has none.
  Record* find();

  // Adds a record, or replaces one whose memory was used again. False: out of memory.
  bool insert(const Record& record);

  // Signs a record again, after every change of one that find() returned.
  void sign(Record* record);

  // Keeps the record for a while, as retired or destroyed, when its memory is about to go back.
  void retire(Record* record, State state);

  void unlock();

 private:
  uintptr_t block_;
  Shard& shard_;
  bool locked_ = true;
};

uint64_t signature_of(const Record& record);
void verify_signature(const Record& record);
void retire_in(Shard& shard, Record* record, State state);
uint64_t next_serial();

// Calls visit(shard, record) for each record, with its shard's lock held; stops when it returns false. visit may change
// the record's state, through retire_in as well, but not insert.
template <typename Visit>
void for_each_record(Visit visit) {
  for (Shard& shard : shards) {
    Locked locked(shard.lock);
    for (uint32_t i = 0; i < shard.capacity; ++i) {
      if (shard.table[i].block <= 1) continue;
      verify_signature(shard.table[i]);
      if (!visit(shard, shard.table[i])) return;
    }
  }
}

// Finds the record whose memory, canaries included, contains the address; live ones first. For messages: it looks at all.
bool find_containing(const void* address, Record* found);

void lock_all_shards();
void unlock_all_shards();
void reset_all_shards();

}  // namespace tp::check
