// What the malloc family asks of the process and the public interface does not offer.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tp {

// As tp_purge, but so many idle bytes may stay, to be used again without a page fault.
size_t purge_process(uint32_t min_idle_ms, size_t keep);

}  // namespace tp
