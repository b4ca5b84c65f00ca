// Tells AddressSanitizer and Valgrind about blocks, so that they report reads of freed memory and of canaries, which this
// library alone cannot see. Does nothing outside of them, or without Valgrind's header.
//
// Annotations change under the lock of the block's shard, where other threads verify, or while the block is being freed, when
// only one thread touches it. The bytes of a live block are the program's, which takes no lock: they stay open.
#pragma once

#include "checked/layout.h"

// AddressSanitizer's runtime is in the program, or nowhere: one library serves both.
extern "C" {
__attribute__((weak)) void __asan_poison_memory_region(const volatile void* address, size_t size);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* address, size_t size);
}

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

inline void close_for_asan(const void* address, size_t size) {
  if (__asan_poison_memory_region != nullptr) __asan_poison_memory_region(address, size);
}
inline void open_for_asan(const void* address, size_t size) {
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(address, size);
}

// The block is the program's; only what it asked for may be touched.
inline void annotate_live(const Record& record, bool zeroed) {
  Surroundings all = surroundings_of(record);
  close_for_asan(all.begin, all.size);
  open_for_asan(record.begin(), record.size);
  VALGRIND_MAKE_MEM_NOACCESS(all.begin, all.size);
  VALGRIND_MALLOCLIKE_BLOCK(record.begin(), record.size, 0, zeroed);
  (void)zeroed;
}

// The block is in quarantine.
inline void annotate_freed(const Record& record) {
  close_for_asan(record.begin(), record.size);
  VALGRIND_FREELIKE_BLOCK(record.begin(), 0);
}

// The memory goes back to the core.
inline void annotate_returned(const Record& record) {
  Surroundings all = surroundings_of(record);
  open_for_asan(all.begin, all.size);
  VALGRIND_MAKE_MEM_UNDEFINED(all.begin, all.size);
}

// Opens the memory while this library itself reads canaries and poison; of a live block only the canaries.
class Unannotated {
 public:
  explicit Unannotated(const Record& record) : record_(record) {
    VALGRIND_DISABLE_ERROR_REPORTING;
    apply(open_for_asan);
  }
  ~Unannotated() {
    apply(close_for_asan);
    VALGRIND_ENABLE_ERROR_REPORTING;
  }
  Unannotated(const Unannotated&) = delete;
  Unannotated& operator=(const Unannotated&) = delete;

 private:
  void apply(void (*change)(const void*, size_t)) const {
    Surroundings all = surroundings_of(record_);
    if (record_.state != State::live) return change(all.begin, all.size);
    unsigned char* end = record_.begin() + record_.size;
    change(all.begin, static_cast<size_t>(record_.begin() - all.begin));
    change(end, static_cast<size_t>(all.begin + all.size - end));
  }

  const Record& record_;
};

}  // namespace tp::check
