// What tests ask of the entry points for blocks.
#pragma once

#include <stddef.h>

namespace tp {

#if defined(TIDEPOOL_TESTING)
// Number of frees that left the inline fast path, ever, by all threads.
size_t slow_free_count();
#endif

}  // namespace tp
