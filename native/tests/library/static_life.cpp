// Allocations before main, after main, in atexit and at the end of threads; built for any malloc, and with tp_ calls.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#if defined(WITH_TIDEPOOL)
#include "tidepool/tidepool.h"
#define ALLOCATE(size) tp_malloc(size)
#define FREE(block) tp_free(block)
#else
#define ALLOCATE(size) malloc(size)
#define FREE(block) free(block)
#endif

namespace {

int alive = 0;

class Holder {
 public:
  explicit Holder(size_t size) : size_(size), block_(static_cast<unsigned char*>(ALLOCATE(size))), names_{{1, std::string(100, 'x')}} {
    memset(block_, static_cast<int>(size), size);
    ++alive;
  }

  ~Holder() {
    for (size_t i = 0; i < size_; ++i) {
      if (block_[i] != static_cast<unsigned char>(size_)) _exit(3);
    }
    FREE(block_);
    names_[2] = std::string(200, 'y');  // destructors allocate too
    void* more = ALLOCATE(size_ * 2);
    FREE(more);
    if (--alive == 0) {
      const char text[] = "all gone\n";
      if (write(1, text, sizeof(text) - 1) < 0) _exit(4);
    }
  }

 private:
  size_t size_;
  unsigned char* block_;
  std::map<int, std::string> names_;
};

Holder small(50);
Holder medium(5000);
Holder large(500000);
thread_local Holder of_thread(700);
__thread void* kept;

__attribute__((constructor(101))) void very_early() { kept = ALLOCATE(123); }
__attribute__((destructor(101))) void very_late() { FREE(kept); }

void at_end() {
  static Holder late(900);
  FREE(ALLOCATE(1000));
}

}  // namespace

int main() {
  atexit(at_end);
  Holder local(300);
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([] {
      // The count is the main thread's; a thread's own object is only made and destroyed.
      thread_local std::string text(1000, 'z');
      FREE(ALLOCATE(text.size()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  (void)&of_thread;
  return 0;
}
