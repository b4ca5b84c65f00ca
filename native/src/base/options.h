// Options: set in code before the first use, by environment variables, or, some of them, at any time.
#pragma once

#include "base/config.h"
#include "os/lock.h"

namespace tp::options {

// Reads the environment for the options that the program did not set, then calls `start`: once, at the first use of the library.
// A thread that comes second waits until both are done.
void load(void (*start)());

// Guards the stored values; also for fork.
extern Lock lock;

// The value since load().
int64_t get(tp_option option);

// Returns the value that counts now. Before the first use it reads the environment and stores nothing: the program may still
// set every option.
int64_t get_now_or_at_first_use(tp_option option);

// Returns 0, EINVAL (no such option, or a value out of range) or EBUSY (too late for this option).
int set(tp_option option, int64_t value);

inline size_t memory_limit() { return static_cast<size_t>(get(tp_option_memory_limit)); }
inline int64_t purge_delay_ms() { return get(tp_option_purge_delay_ms); }

}  // namespace tp::options
