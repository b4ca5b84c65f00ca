// dlopen, for libtidepool-preload: a library that is loaded with RTLD_DEEPBIND sees the C library's malloc before this one's,
// while everything else of the program has this one's; the first block that goes from one to the other ends the process. So
// the flag is taken away, unless TIDEPOOL_DEEPBIND=1 says that it must stay.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "base/report.h"

namespace {

using Open = void* (*)(const char*, int);

Open next_dlopen() {
  static constinit std::atomic<Open> known{nullptr};
  Open next = known.load(std::memory_order_acquire);
  if (next == nullptr) {
    next = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
    if (next == nullptr) tp::fatal("dlopen: the C library has none");
    known.store(next, std::memory_order_release);
  }
  return next;
}

TP_COLD int without_deepbind(int mode) {
  const char* wish = getenv("TIDEPOOL_DEEPBIND");
  if (wish == nullptr || strcmp(wish, "1") != 0) return mode & ~RTLD_DEEPBIND;
  tp::note_deepbind();
  return mode;
}

}  // namespace

// Ends in a jump, not in a call: the C library looks up who called it, for the paths that are searched.
#if defined(__clang__)
#define TP_BY_JUMPS
#define TP_JUMP [[clang::musttail]]
#else
#define TP_BY_JUMPS __attribute__((optimize("optimize-sibling-calls")))
#define TP_JUMP
#endif

extern "C" TP_EXPORT TP_BY_JUMPS void* dlopen(const char* file, int mode) noexcept {
  Open next = next_dlopen();
  if (TP_UNLIKELY((mode & RTLD_DEEPBIND) != 0)) mode = without_deepbind(mode);
  TP_JUMP return next(file, mode);
}
