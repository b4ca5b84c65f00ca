// Counters of the entry points for blocks, for tests.
#pragma once

#include <stddef.h>

namespace tp {

#if defined(TIDEPOOL_TESTING)
// The number of frees by all threads so far that left the inline fast path.
size_t slow_free_count();
#endif

}  // namespace tp
