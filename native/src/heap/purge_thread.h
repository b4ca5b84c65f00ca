// The background thread that purges while the program is idle.
//
// It is made once the library holds as much as is worth it: by a rent, and by returns that are not part of the C library's
// own thread functions. When everything has been seen it sleeps without a timer as long as there may be more: the library
// holds that much, and a thread of the program has a heap. Otherwise it ends, and the next activity makes another: a thread
// that stayed would keep a process alive whose own threads have all ended, for that ends with the last thread when main was
// left by pthread_exit, or by a fork from another thread.
#pragma once

#include "base/config.h"

namespace tp {

// Tells the thread that memory may become idle. may_make_thread: the caller is not inside of the C library's own thread
// functions. No lock is held, here and below.
void note_idle_pages(bool may_make_thread);

// True when a free of a block of this size may make the thread.
bool may_make_thread_at_free(uint32_t block_size);

// Makes the thread when the library holds enough for it; for a rent that misses.
void start_purge_thread_if_worth_it();

// Tells the thread that a heap has learned a longer delay: it has to look for longer before everything has been seen.
void note_learned_delay();

// Forgets the thread in the child of a fork, where it does not exist.
void forget_purge_thread();

}  // namespace tp
