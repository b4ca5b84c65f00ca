// What AddressSanitizer and Valgrind are told, so that they report reads of freed memory and of canaries as well, which
// this library alone cannot see. Without their headers, and outside of them, nothing happens.
#pragma once

#include "checked/layout.h"

#if defined(__SANITIZE_ADDRESS__) && __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#define TP_ASAN_CLOSE(address, size) __asan_poison_memory_region(address, size)
#define TP_ASAN_OPEN(address, size) __asan_unpoison_memory_region(address, size)
#else
#define TP_ASAN_CLOSE(address, size) ((void)(address), (void)(size))
#define TP_ASAN_OPEN(address, size) ((void)(address), (void)(size))
#endif

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MALLOCLIKE_BLOCK(address, size, around, zeroed) ((void)0)
#define VALGRIND_FREELIKE_BLOCK(address, around) ((void)0)
#define VALGRIND_MAKE_MEM_NOACCESS(address, size) ((void)0)
#define VALGRIND_MAKE_MEM_UNDEFINED(address, size) ((void)0)
#define VALGRIND_DISABLE_ERROR_REPORTING ((void)0)
#define VALGRIND_ENABLE_ERROR_REPORTING ((void)0)
#endif

namespace tp::check {

// The memory around a block, canaries included.
struct Surroundings {
  unsigned char* begin;
  size_t size;
};
Surroundings surroundings_of(const Record& record);

// The block is the program's; only what it asked for may be touched.
inline void annotate_live(const Record& record, bool zeroed) {
  Surroundings all = surroundings_of(record);
  TP_ASAN_CLOSE(all.begin, all.size);
  TP_ASAN_OPEN(record.begin(), record.size);
  VALGRIND_MAKE_MEM_NOACCESS(all.begin, all.size);
  VALGRIND_MALLOCLIKE_BLOCK(record.begin(), record.size, 0, zeroed);
  (void)zeroed;
}

// The block is in quarantine.
inline void annotate_freed(const Record& record) {
  TP_ASAN_CLOSE(record.begin(), record.size);
  VALGRIND_FREELIKE_BLOCK(record.begin(), 0);
}

// The memory goes back to the core.
inline void annotate_returned(const Record& record) {
  Surroundings all = surroundings_of(record);
  TP_ASAN_OPEN(all.begin, all.size);
  VALGRIND_MAKE_MEM_UNDEFINED(all.begin, all.size);
}

// While this library itself reads canaries and poison.
class Unannotated {
 public:
  explicit Unannotated(const Record& record) : record_(record) {
    VALGRIND_DISABLE_ERROR_REPORTING;
    Surroundings all = surroundings_of(record_);
    TP_ASAN_OPEN(all.begin, all.size);
  }
  ~Unannotated() {
    Surroundings all = surroundings_of(record_);
    TP_ASAN_CLOSE(all.begin, all.size);
    if (record_.state == State::live) TP_ASAN_OPEN(record_.begin(), record_.size);
    VALGRIND_ENABLE_ERROR_REPORTING;
  }
  Unannotated(const Unannotated&) = delete;
  Unannotated& operator=(const Unannotated&) = delete;

 private:
  const Record& record_;
};

}  // namespace tp::check
