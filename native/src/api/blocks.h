// What the entry points for blocks share with those for heaps, and a counter for tests.
#pragma once

#include <errno.h>
#include <stddef.h>

namespace tp {

// The block, or null with errno set.
inline void* or_enomem(void* block) {
  if (block == nullptr) [[unlikely]] errno = ENOMEM;
  return block;
}

#if defined(TIDEPOOL_TESTING)
// The number of frees by all threads so far that left the inline fast path.
size_t slow_free_count();
#endif

}  // namespace tp
