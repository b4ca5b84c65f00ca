// A function of the process for the malloc family that the public interface does not offer.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tp {

// Purges like tp_purge(0), but keeps up to so many idle bytes for use without a page fault, and leaves heaps alone to which
// only a few blocks have come back since the last purge. Returns bytes.
size_t trim_process(size_t keep);

}  // namespace tp
