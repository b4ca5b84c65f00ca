// Guarded blocks: one in N ends at a page that cannot be accessed, so that a read or write past its end faults at once,
// and all of it cannot be accessed once it is freed.
//
//   memory (whole pages)                    block          block + size    guard page
//     | unused, canary before the block ... | asked for   | canary < 16   | no access ...
//
// The fault is reported like any other misuse, by a handler for SIGSEGV that is put in place with the first guarded
// block. It calls the misuse handler; when that returns, the signal's former action takes over.
#pragma once

#include "checked/record.h"

namespace tp::check {

inline constexpr size_t most_guarded_size = 1024 * 1024;
inline constexpr size_t most_guarded_blocks = 8192;  // each takes two of the process's 65,530 mappings

// True once in guard_rate calls, for blocks that can be guarded.
bool time_for_guard(size_t size, size_t alignment);

// Fills in memory, block and guarded. False: there is no mapping to be had, or there are enough.
bool map_guarded(Record& record);

// Takes all access from the block and gives its memory back to the system.
void close_guarded(const Record& record);

void unmap_guarded(const Record& record);

// Returns the bytes from memory to the guard page.
inline size_t guarded_extent(const Record& record) {
  size_t room = round_up(record.size != 0 ? record.size : 1, record.alignment());
  return record.block - record.memory + room;
}

// False when no guarded block was ever near the address.
bool may_be_guarded(const void* address);

}  // namespace tp::check
