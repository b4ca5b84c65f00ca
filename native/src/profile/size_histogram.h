// A histogram of requested sizes, the input of tidepool-tune. It never calls the allocator. Thread-safe.
#pragma once

#include "base/config.h"

namespace tp::profile {

// Counts a refill: `blocks` blocks of the class of `requested`, which will serve requests like this one. The caller may leave
// out refills and let the others count for them.
void note_refill(size_t requested, uint32_t blocks);

// Counts one request, when the option profile counts every one.
inline void note_exact(size_t requested) { note_refill(requested, 1); }

// Returns the number of requests in the bucket of this size so far; for tests.
uint64_t count_of(size_t requested);

// Writes the histogram for tidepool-tune. False with errno.
bool write_sizes(const char* path);

}  // namespace tp::profile
