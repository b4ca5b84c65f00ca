// Where freed blocks wait, poisoned, before their memory is used again: first in, first out, bounded in blocks and bytes.
#pragma once

#include "checked/record.h"

namespace tp::check {

inline constexpr size_t quarantine_bytes = size_t{32} << 20;
inline constexpr size_t quarantine_blocks = 1u << 16;
inline constexpr size_t most_quarantined_size = quarantine_bytes / 8;  // larger blocks do not wait

// A block in state quarantined. Those that have no room any more are verified and go back to the core.
void quarantine(const Record& record);

// All go back. Returns the bytes; found_by is the entry point for messages.
size_t empty_quarantine(const char* found_by);

size_t quarantined_bytes();

// A block whose record is retired, or never came to be: its memory goes where it came from.
void give_memory_back(const Record& record);

void lock_quarantine();
void unlock_quarantine();
void reset_quarantine();

}  // namespace tp::check
