// What the malloc family asks of the process and the public interface does not offer.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tp {

// As tp_purge(0), but so many idle bytes may stay, to be used again without a page fault; and what few blocks leave that have
// come back since the last time.
size_t trim_process(size_t keep);

}  // namespace tp
