// The operating system, and nothing else: a port to another one is another os_*.cpp. All functions keep errno.
//
// Address space is mapped where the arenas want it (map_at), or reserved first (no memory, no access) and made usable later
// (commit). Either may be given back while it stays usable (discard: reads as zero afterwards). Space that is only reserved
// stays out of core dumps. Addresses and lengths are multiples of page_size() unless stated.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

#include "os/compiler.h"

namespace tp::os {

size_t page_size();

// Reserves address space without access, aligned to alignment (a power of two of at least page_size). Null: none to be had.
void* reserve(size_t length, size_t alignment);

// Gives reserved address space back, with everything in it.
void release(void* address, size_t length);

// Makes reserved pages readable and writable; they read as zero. False: the system has no memory for them.
bool commit(void* address, size_t length);

// Maps address space at this very address, unless something lies there already.
enum class Mapped { yes, taken, no_memory };
enum class Access { read, read_and_write };  // read: as reserved, but it can be looked at and reads as zero
Mapped map_at(void* address, size_t length, Access access);

// Returns an address that the system would choose for a new mapping now. Null: it has none.
void* likely_place();

// Gives the memory of committed pages back; they stay usable and read as zero. False: nothing changed.
bool discard(void* address, size_t length);

// Takes all access from committed pages (guard pages), or gives it back.
bool protect(void* address, size_t length, bool accessible);

// Asks for huge pages in this range from now on, or for none. Best effort.
void set_huge_pages(void* address, size_t length, bool wanted);

// Moves the pages of [from, from+length) to [to, to+length), both committed; from reads as zero afterwards, but for
// parts that had to be copied. False: nothing moved, copy instead.
bool move_pages(void* from, void* to, size_t length);

// Returns the most address space, or writable memory, this process may have; SIZE_MAX: there is no such limit.
size_t mapping_limit();

// Milliseconds of a clock that never goes back; coarse and cheap.
uint64_t now_ms();

// A seed that is hard enough to predict to make forged metadata unlikely.
uint64_t random_seed();

void write_all(int file_descriptor, const char* text, size_t length);

// While it lives, the calling thread is not cancelled (pthread_cancel). Functions of the C library that may wait, such as open, end a
// thread that was; its locks would stay locked. None of the functions here does that.
class NoCancellation {
 public:
  NoCancellation();
  ~NoCancellation();
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = 0;
};

// Sleeps while *word == expected, until woken or the time is over (0: no limit).
void wait(std::atomic<uint32_t>* word, uint32_t expected, uint32_t milliseconds);
void wake_one(std::atomic<uint32_t>* word);

// Returns after every other thread of the process has passed a full memory barrier. Only where there is one.
bool has_barrier_of_process();
void barrier_of_process();

// Number of calls above that changed mappings, ever.
size_t call_count();

#if defined(TIDEPOOL_TESTING)
// Number of calls of barrier_of_process, ever.
size_t barrier_count();

// Stops the clock at this time; 0: it goes on.
void stop_clock(uint64_t at_ms);

// The nth next call of reserve, map_at, commit, discard, protect or move_pages fails, once; 0: none does.
void fail_after(size_t nth);
#endif

}  // namespace tp::os
