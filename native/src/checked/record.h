// The record of a checked block. Records lie in tables of their own: a program that writes past its blocks meets canaries,
// never records.
#pragma once

#include "base/config.h"
#include "profile/stacks.h"

namespace tp::check {

struct Owner;

enum class State : uint8_t {
  none,
  live,
  freeing,      // being poisoned by the thread that frees it
  quarantined,  // poisoned; a write shows when it leaves quarantine
  retired,      // its memory went back to the core; remembered for a while, until its address is used again
  destroyed,    // as retired, because its heap or pool was destroyed
  damaged       // was written to while in quarantine; reported once, and its memory is never used again
};

// The program's pointer leads to this. One block passes live, freeing, quarantined, retired.
struct Record {
  uintptr_t block;   // 0: an empty place of the table, 1: a removed one
  size_t size;       // exactly what was asked for
  uintptr_t memory;  // what the core or the system gave
  Owner* owner;      // heap or pool; null: the process
  uint64_t serial;   // of this allocation, never used twice
  stacks::StackId allocated;
  stacks::StackId freed;
  uint32_t owner_serial;
  uint8_t alignment_log2;
  State state;
  bool guarded : 1;       // memory is a mapping of its own that ends at a guard page
  bool zero_on_free : 1;
  bool aligned : 1;       // the program asked for the alignment
  uint8_t unused;
  uint64_t signature;  // of all above and of the block's address, with the process's secret

  size_t alignment() const { return size_t{1} << alignment_log2; }
  unsigned char* begin() const { return reinterpret_cast<unsigned char*>(block); }
};
static_assert(sizeof(Record) == 64);

inline constexpr unsigned checked_depth = 16;  // frames that are kept of each stack

}  // namespace tp::check
