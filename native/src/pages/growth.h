// Address space of arenas: mapped bit by bit, in place.
//
// Nothing is reserved ahead. The first two arenas share one window of addresses that are free when the first thread
// allocates, up to 1 TiB; the map of bins covers all of it, mapped or not, so the fast path asks one question. An
// arena maps its next part right behind the last. Where the program has mapped something the arena goes on behind it.
//
//   of the window     what may be there                the map of bins says
//   not mapped        mappings of the program           0: its pointers take the slow path, which knows what is mapped
//   mapped, fresh     nothing yet                       0
//   in a run          pages, large blocks, free runs    the bin of blocks that threads may cache, else 0
//   skipped           mappings of the program           0
//
// The system puts a program's mappings at the upper end of free space (or, seldom, at the lower end of all of it), the
// arenas grow from the lower end of their window: they meet when the window is used up.
//
// All under the arenas' lock.
#pragma once

#include "pages/arena.h"

namespace tp {

// Makes the first two arenas. False: no address space.
bool open_window();

// Makes an arena apart from the window, with room for so many slices; the frees of its blocks are slow.
bool open_further_arena(size_t needed);

enum class Growth { in_place, behind_a_gap, no_memory, no_space };

// Makes at least so many slices more of the arena usable, more of them where the system lets us. behind_a_gap: they do not
// follow the last usable one but begin at *start.
Growth grow(uint32_t number, uint32_t needed, uint32_t* start);

// Returns the bytes of the arena that are mapped, with its tables.
size_t mapped_bytes(uint32_t number);

bool growth_is_valid(uint32_t number);

}  // namespace tp
