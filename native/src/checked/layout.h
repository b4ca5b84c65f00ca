// Layout of a checked block in its memory: canaries around it and poison in it show damage.
//
//   memory                    block                 block + size            memory + extent
//     | ... | front canary    | what was asked for  | tail canary           |
//
// The front is as long as the alignment (there is none above 4 KiB), of which the last 256 bytes at most hold the canary.
// The tail starts at the first byte that was not asked for, so an overflow by one byte shows. A guarded block (guard.h)
// has its tail only up to the guard page.
#pragma once

#include "checked/record.h"

namespace tp::check {

struct Layout {
  size_t front;
  size_t extent;
};

// Lays out a block. size is at most max_size / 2, alignment a power of two of at least 16.
Layout layout_of(size_t size, size_t alignment);

// The memory around a block, canaries included.
struct Surroundings {
  unsigned char* begin;
  size_t size;
};
Surroundings surroundings_of(const Record& record);

// Writes both canaries.
void arm(const Record& record);

// Returns the offset of the first damaged byte relative to the block (negative: in front), or intact.
inline constexpr ptrdiff_t intact = PTRDIFF_MIN;
ptrdiff_t damage_around(const Record& record);

// Fills the contents of a block that was freed: with a pattern, or with zeros where secrets are wiped.
void poison(const Record& record);

// Returns the offset of the first byte that was written since poison(), or intact.
ptrdiff_t damage_inside(const Record& record);

// Fills a new block that is not zeroed with a pattern, so that a read of undefined contents is seen.
void fill_new(void* block, size_t size);

}  // namespace tp::check
