// What the malloc family asks of the process and the public interface does not offer.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tp {

// As tp_purge(0), but keeps up to so many idle bytes for use without a page fault, and leaves heaps alone to which only a few
// blocks have come back since the last purge.
size_t trim_process(size_t keep);

}  // namespace tp
