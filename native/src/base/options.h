// What the user may set: in code before the first use, by environment variables, some of it at any time.
#pragma once

#include "os/lock.h"

namespace tp::options {

// Reads the environment for whatever the program did not set; once, at the first use of the library. Who comes second
// waits until all options have their values.
void load();

extern Lock lock;  // for fork

int64_t get(tp_option option);

inline size_t memory_limit() { return static_cast<size_t>(get(tp_option_memory_limit)); }
inline int64_t purge_delay_ms() { return get(tp_option_purge_delay_ms); }

// Every allocation and free has to be seen: nothing is cached in thread heaps.
bool instrumented();

}  // namespace tp::options
