// Quarantine: freed blocks wait poisoned before their memory is used again, first in, first out, bounded in blocks and bytes.
#pragma once

#include "checked/record.h"

namespace tp::check {

inline constexpr size_t quarantine_bytes = size_t{32} << 20;
inline constexpr size_t quarantine_blocks = 1u << 16;
inline constexpr size_t most_quarantined_size = quarantine_bytes / 8;  // larger blocks do not wait

// Adds a block in state quarantined. Verifies those that it pushes out and gives them back to the core.
void quarantine(const Record& record);

// Gives all blocks back; returns bytes. found_by: the entry point, for messages.
size_t empty_quarantine(const char* found_by);

size_t quarantined_bytes();

// Gives the memory of a block back to where it came from. Its record is retired and its annotations are gone, or neither was
// ever made.
void give_memory_back(const Record& record);

void lock_quarantine();
void unlock_quarantine();
void reset_quarantine();

}  // namespace tp::check
