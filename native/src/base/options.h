// What the user may set: in code before the first use, by environment variables, some of it at any time.
#pragma once

#include "base/config.h"
#include "os/lock.h"

namespace tp::options {

// Reads the environment for whatever the program did not set; once, at the first use of the library. Then `start` runs, also
// once. A thread that comes second waits until both are done.
void load(void (*start)());

extern Lock lock;  // for fork

int64_t get(tp_option option);

// As get(). Before the first use it asks the environment and stores nothing: the program may still set every option.
int64_t get_now_or_at_first_use(tp_option option);

// 0, EINVAL (no such option, or the value is out of range) or EBUSY (too late for this option).
int set(tp_option option, int64_t value);

inline size_t memory_limit() { return static_cast<size_t>(get(tp_option_memory_limit)); }
inline int64_t purge_delay_ms() { return get(tp_option_purge_delay_ms); }

}  // namespace tp::options
